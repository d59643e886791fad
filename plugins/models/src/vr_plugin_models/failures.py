"""Failures that services of all families share, as the kernel's errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vr_kernel import Code, ErrorRule, ErrorTable, VrError, did_you_mean
from vr_kernel.http import parse_retry_after
from vr_kernel.text import redactor

WORDS = 300
"""Most characters of a service's message that an error repeats."""
SHOWN_MODELS = 8
_ADDRESS = re.compile(r"https?://\S+")
_BLOCKED = re.compile(r"content_filter|content_policy|responsible.?ai|moderation", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|context (length|window)|maximum context|prompt is too long"
    r"|too many (input )?tokens|exceeds? the (model's )?(maximum|limit)|input.{0,20}too long",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"insufficient_(quota|credits?|balance|funds)|credit balance|billing|your current quota",
    re.IGNORECASE,
)
_ANSWERS = ErrorTable(
    ErrorRule(
        words=_BLOCKED,
        code=Code.NOT_ALLOWED,
        message="{title} refused the request: {said}",
        category="SAFETY_BLOCKED",
        hint="Ask in another way, or ask another model.",
    ),
    ErrorRule(
        words=_TOO_LONG,
        code=Code.TOO_LARGE,
        message="The request is larger than the window of {model}: {said}",
        category="CONTEXT_EXCEEDED",
        hint="Send less at once, or name a model with a larger window in [models].",
    ),
    ErrorRule(
        statuses={402},
        words=_SPENT,
        code=Code.QUOTA,
        message="The account at {title} has no credit left: {said}",
        category="API_QUOTA_EXCEEDED",
        hint="Add credit there, or name another provider in [models].",
    ),
    ErrorRule(
        statuses={401, 403},
        code=Code.AUTH,
        message="{title} refused the key: {said}",
        category="API_PERMISSION_DENIED",
        hint="Set {variable} to a valid key of {title}.{key_page}",
    ),
    ErrorRule(
        statuses={429},
        code=Code.QUOTA,
        message="{title} is asked too often: {said}",
        category="API_QUOTA_EXCEEDED",
        hint="Wait, raise the limit there, or name another provider in [models].",
        retryable=True,
    ),
    ErrorRule(
        statuses={404},
        code=Code.NOT_FOUND,
        message="{title} does not know {model}: {said}",
        category="API_NOT_FOUND",
        hint="Check the name in [models].",
    ),
    ErrorRule(
        statuses={408, 409, 425, *range(500, 1000)},
        code=Code.UNAVAILABLE,
        message="{title} failed with HTTP {status}: {said}",
        category="SERVICE_ERROR",
        hint="The service is at fault; try again later.",
        retryable=True,
    ),
    ErrorRule(
        statuses={*range(300, 400)},
        code=Code.UNAVAILABLE,
        message="{title} sent the request on to another address (HTTP {status}).",
        category="REDIRECTED",
        hint="Nothing was sent there. If it has moved, give its new address in [plugins.models].",
    ),
    ErrorRule(
        statuses={413},
        code=Code.TOO_LARGE,
        message="The request is too large for {title}: {said}",
        hint="Send less at once.",
    ),
    otherwise=ErrorRule(
        code=Code.INVALID_INPUT,
        message="{title} refused the request: {said}",
        category="API_INVALID_ARGUMENT",
        hint="Change what was asked; the same request will be refused again.",
    ),
)


class Failures:
    """Makes the errors of one provider; no message repeats its key.

    Args:
        title: of the provider.
        variable: that holds its key; empty when it has none.
        key_page: where a key is made.
        address: its base URL.
        key: the key itself, which is hidden.
        local: whether the user runs it.
        start: the command that starts it there.
    """

    def __init__(
        self,
        title: str,
        *,
        variable: str = "",
        key_page: str = "",
        address: str = "",
        key: str = "",
        local: bool = False,
        start: str = "",
    ) -> None:
        self._title = title
        self._variable = variable or "its key"
        self._key_page = f" Get one at {key_page}." if key_page else ""
        self._address = address
        self._local = local
        self._start = f"Start it: {start}. Or" if start else "Start it, or"
        self._hide = redactor([key])

    def answer(
        self, status: int, words: str, headers: Mapping[str, str] | None = None, model: str = ""
    ) -> VrError:
        """The error of an HTTP status, and of the words that came with it."""
        said = self._said(words)
        return _ANSWERS.error(
            status,
            words,
            retry_after=parse_retry_after((headers or {}).get("retry-after", "")),
            said=said,
            title=self._title,
            model=model or "what was asked for",
            variable=self._variable,
            key_page=self._key_page,
        )

    def unreachable(self, why: str) -> VrError:
        """The error of a request that was never sent."""
        hint = "Check the network, and its address in [plugins.models]."
        if self._local:
            where = f"its address in [plugins.models]; asked was {self._address}."
            hint = f"{self._start} correct {where}"
        return VrError(
            f"{self._title} could not be reached ({why}).",
            Code.UNAVAILABLE,
            category="SERVICE_UNREACHABLE",
            hint=hint,
            retryable=True,
        )

    def network(self, what: str) -> VrError:
        """The error of a request that was sent; its reply may have been made and lost."""
        return VrError(
            f"{self._title} {what}.",
            Code.UNAVAILABLE,
            category="NETWORK_ERROR",
            hint="Check the network, then try again.",
            retryable=True,
        )

    def unreadable(self, why: str) -> VrError:
        """The error of an answer that is not in the form of the service's interface."""
        return VrError(
            f"{self._title} sent an answer that cannot be read ({why}).",
            Code.UNAVAILABLE,
            category="REPLY_UNREADABLE",
            hint="Try again; if it stays, the service has changed its interface.",
            retryable=True,
        )

    def truncated(self, text: str) -> VrError:
        """The error of a stream that ended before its answer did."""
        error = VrError(
            f"The answer of {self._title} broke off.",
            Code.UNAVAILABLE,
            category="REPLY_TRUNCATED",
            hint="Try again.",
            retryable=True,
        )
        error.detail = text
        return error

    def unknown_model(self, error: VrError, model: str, offered: Sequence[str]) -> VrError:
        """The same error with the models that the service offers in its hint."""
        if offered:
            near = did_you_mean(model, offered)
            more = ", …" if len(offered) > SHOWN_MODELS else ""
            error.hint = f"{near}It offers {', '.join(offered[:SHOWN_MODELS])}{more}."
        return error

    def _said(self, words: str) -> str:
        text = _ADDRESS.sub("[...]", self._hide(" ".join(words.split())))[:WORDS]
        text = text or "no reason given"
        return text if text.endswith(".") else f"{text}."
