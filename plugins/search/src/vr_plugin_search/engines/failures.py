"""Errors of services, in their own words for a person: what happened, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vr_kernel import Code, ErrorRule, ErrorTable, VrError

from vr_plugin_search.engines.service_rows import ServiceRow

NOT_SET_UP = "SEARCH_NOT_SET_UP"
"""Category: a service lacks its key or its address, and was not asked."""
UNREADABLE = "SEARCH_ANSWER_UNREADABLE"
"""Category: a service answered with something else than its API says."""
UNKNOWN = "SEARCH_UNKNOWN"
"""Category: the address, or the paper in it, is not known there (status 404)."""
_STATUS = re.compile(r"answered with status (\d{3})\.$")
_ANSWERED = re.compile("^(HTTP_|CONTENT_|FILE_TOO_LARGE|RANGE_INVALID|HEADER_INVALID|TOO_MANY_RED)")
"""Categories of the fetcher's errors that are about an answer; others are told as they are."""
_KEY = "Check {key} in [plugins.search]; a key is made at {page}."
_BUSY = ErrorRule(
    statuses={429},
    code=Code.QUOTA,
    message="{title} takes no more searches now.",
    category="SEARCH_TOO_MANY",
    hint="Wait, then try again.{more}",
    retryable=True,
)
_GONE = "{title} has nothing at this address (status {status})."
_COMMON = (
    ErrorRule(
        statuses={404, 410},
        code=Code.UNAVAILABLE,
        message=_GONE,
        category=UNKNOWN,
        hint="Check {address} in [plugins.search].",
    ),
    ErrorRule(
        statuses={401, 403, 407},
        code=Code.AUTH,
        message="{title} refused the key (status {status}).",
        category="SEARCH_KEY_REFUSED",
        hint=_KEY,
    ),
    ErrorRule(
        statuses={402, 432, 433},
        code=Code.QUOTA,
        message="The account at {title} is used up (status {status}).",
        category="SEARCH_ACCOUNT_EMPTY",
        hint="See {page}, or name another provider.",
    ),
    ErrorRule(
        words=re.compile("^HEADER_INVALID"),
        code=Code.AUTH,
        message="The key of {title} has signs that no key has.",
        category="SEARCH_KEY_REFUSED",
        hint=_KEY,
    ),
    _BUSY,
    ErrorRule(
        statuses={400, 413, 414, 422},
        code=Code.INVALID_INPUT,
        message="{title} does not take this search (status {status}).",
        category="SEARCH_REFUSED",
        hint="Search for fewer or simpler words.",
    ),
    ErrorRule(
        statuses={408, *range(500, 1000)},
        code=Code.UNAVAILABLE,
        message="{title} is out of order (status {status}).",
        category="SEARCH_SERVICE_DOWN",
        hint="Try again later, or name another provider.",
        retryable=True,
    ),
    ErrorRule(
        words=re.compile("^CONTENT_"),
        code=Code.UNAVAILABLE,
        message="{title} sent something else than an answer.",
        category=UNREADABLE,
        hint="Try again later; check {address} in [plugins.search].",
        retryable=True,
    ),
    ErrorRule(
        words=re.compile("^FILE_TOO_LARGE"),
        code=Code.UNAVAILABLE,
        message="{title} sent more than is read.",
        category=UNREADABLE,
        hint="Ask for fewer results.",
    ),
)
_OTHERWISE = ErrorRule(
    code=Code.UNAVAILABLE,
    message="{title} does not answer at its address (status {status}).",
    category="SEARCH_ADDRESS",
    hint="Check {address} in [plugins.search].",
)
_OWN: Mapping[str, ErrorRule] = {
    "searxng": ErrorRule(
        statuses={403},
        code=Code.UNAVAILABLE,
        message="This SearXNG gives no JSON.",
        category="SEARCH_NO_JSON",
        hint="Add json to `search.formats` in its settings.yml, and restart it.",
    ),
    "openalex": ErrorRule(
        statuses={403},
        code=Code.QUOTA,
        message="OpenAlex takes no more searches now.",
        category="SEARCH_TOO_MANY",
        hint="Wait, then try again.{more}",
        retryable=True,
    ),
}
"""Answers that mean something else at one service."""
_TABLES = {
    name: ErrorTable(*filter(None, [_OWN.get(name)]), *_COMMON, otherwise=_OTHERWISE)
    for name in ("", *_OWN)
}


def failure_of(row: ServiceRow, error: VrError) -> VrError:
    """Return the error of a service for one of the fetcher: nothing of an answer is repeated."""
    if not _ANSWERED.match(error.category):
        return error
    found = _STATUS.search(error.message)
    more = f" A key of your own raises the limit: {row.page}" if row.key else ""
    table = _TABLES.get(row.name) or _TABLES[""]
    made = table.error(
        int(found[1]) if found else 0,
        error.category,
        retry_after=error.retry_after,
        title=row.title,
        key=row.key or row.address,
        page=row.page or "its pages",
        address=row.address,
        more=more,
    )
    made.__cause__ = error
    return made


def not_set_up(row: ServiceRow) -> VrError:
    """The error of a service whose key or address is not configured."""
    if row.needs_key:
        message, code = f"{row.title} needs a key.", Code.AUTH
        hint = f"Set {row.key} in [plugins.search]; a key is made at {row.page}."
    else:
        message, code = f"{row.title} has no address.", Code.UNAVAILABLE
        hint = f"Set {row.address} in [plugins.search]; how to run one: {row.page}"
    return VrError(message, code, category=NOT_SET_UP, hint=hint)


def unreadable(row: ServiceRow, lacks: str) -> VrError:
    """The error of an answer that is not as the API says; it is not repeated."""
    return VrError(
        f"{row.title} sent an answer that cannot be read: {lacks}.",
        Code.UNAVAILABLE,
        category=UNREADABLE,
        hint=f"Try again later; check {row.address} in [plugins.search].",
        retryable=True,
    )


def unknown_paper(row: ServiceRow) -> VrError:
    """The error of a paper that a service does not know."""
    message = f"{row.title} knows no such paper."
    return VrError(message, Code.NOT_FOUND, category=UNKNOWN, hint="Check its identifier.")
