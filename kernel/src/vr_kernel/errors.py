"""The one error type that crosses a boundary, its codes, and tables of what services answer."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vr_kernel.text.bounds import NAME_CHARS, bounded, said

if TYPE_CHECKING:
    from vr_kernel.generation import Usage

ERROR_META = "video-research/error"
"""Key of `_meta` in a failed result that holds the fields of `VrError.as_dict`."""


class Code(StrEnum):
    """Kinds of failure that a client may branch on; plugins add categories, never codes."""

    INVALID_INPUT = "INVALID_INPUT"
    NOT_FOUND = "NOT_FOUND"
    NOT_ALLOWED = "NOT_ALLOWED"
    AUTH = "AUTH"
    QUOTA = "QUOTA"
    BUDGET = "BUDGET"
    UNAVAILABLE = "UNAVAILABLE"
    TOO_LARGE = "TOO_LARGE"
    UNSUPPORTED = "UNSUPPORTED"
    CONFLICT = "CONFLICT"
    CANCELLED = "CANCELLED"
    INTERNAL = "INTERNAL"


QUOTA_RETRY_S = 60.0
"""Seconds to wait for a service whose quota is used up, where it does not say."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The start of a hint that names the nearest known name, empty when none is near."""
    near = get_close_matches(name[:NAME_CHARS], list(known), n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


class VrError(Exception):
    """An expected failure: what happened, and what the caller can do next.

    Args:
        message: what happened, in one sentence, without secrets.
        code: the kind of failure a client may branch on.
        category: a finer name that a plugin may add; the code's own name when left out.
        hint: what to do next.
        retryable: whether the same call may succeed later.
        retry_after: seconds to wait before a retry, when known.
        usage: what was paid in spite of the failure.
        detail: what was received, such as an answer that does not fit; never shown directly.
    """

    def __init__(
        self,
        message: str,
        code: Code = Code.INTERNAL,
        *,
        category: str | None = None,
        hint: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
        usage: Usage | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.category = category or code.value
        self.hint = hint
        self.retryable = retryable
        self.retry_after = retry_after
        self.usage = usage
        self.detail = detail

    @property
    def told(self) -> str:
        """The message and the hint, in a line."""
        return f"{self.message} {self.hint}".strip()

    def reworded(self, message: str, hint: str) -> VrError:
        """Return the same failure in other words, as a copy: others may hold this error."""
        told = VrError(
            message,
            self.code,
            category=self.category,
            hint=hint,
            retryable=self.retryable,
            retry_after=self.retry_after,
            usage=self.usage,
            detail=self.detail,
        )
        told.__cause__ = self.__cause__
        return told

    def as_dict(self, call_id: str) -> dict[str, Any]:
        """The error as every client sees it: each of its texts has at most `ERROR_BYTES`."""
        shown = {
            "code": self.code.value,
            "category": bounded(self.category, NAME_CHARS),
            "message": bounded(self.message),
            "hint": bounded(self.hint),
            "retryable": self.retryable,
            "retry_after_seconds": self.retry_after,
            "call_id": call_id,
        }
        return shown if self.usage is None else {**shown, "usage": self.usage.model_dump()}


def reason_of(error: BaseException) -> str:
    """The message of any exception on one line; for a `VrError` the hint follows."""
    told = f"{error.message} {error.hint}" if isinstance(error, VrError) else said(error)
    return told.strip()


EXTRA_MISSING = "EXTRA_MISSING"
"""Category: a library that is installed with an extra is not there."""


def extra_missing(message: str, install: str, category: str = EXTRA_MISSING) -> VrError:
    """The error of a library that is not installed.

    Args:
        message: what is not installed, as a sentence.
        install: the command that installs it, and what else may be said after it.
        category: as of `VrError`.
    """
    return VrError(message, Code.UNAVAILABLE, category=category, hint=f"Install it: {install}")


def require_extra(module: str, message: str, install: str, category: str = EXTRA_MISSING) -> Any:
    """Import a module that comes with an extra; the other arguments as of `extra_missing`.

    Raises:
        VrError: UNAVAILABLE when it cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise extra_missing(message, install, category) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """Answers of a service that mean the same, and the error they become.

    Attributes:
        code: the kind of failure.
        message: one sentence; `{status}`, `{said}` and other names that `ErrorTable.error` is
            given are replaced.
        category: as of `VrError`.
        hint: as of `VrError`; names in it are replaced, too.
        retryable: as of `VrError`.
        statuses: the HTTP statuses that it is about.
        words: the rule is also about an answer in which this is found.
    """

    code: Code
    message: str
    category: str | None = None
    hint: str = ""
    retryable: bool = False
    statuses: Container[int] = ()
    words: re.Pattern[str] | None = None

    def matches(self, status: int, words: str) -> bool:
        """True when the rule is about that answer."""
        return status in self.statuses or bool(self.words and self.words.search(words))


class ErrorTable:
    """Maps the failure answers of a service to errors.

    Args:
        rules: the first one that matches counts.
        otherwise: the rule of all other answers.
    """

    def __init__(self, *rules: ErrorRule, otherwise: ErrorRule) -> None:
        self._rules = rules
        self._otherwise = otherwise

    def rule(self, status: int = 0, words: str = "") -> ErrorRule:
        """The rule about an answer.

        Args:
            status: of HTTP; 0 where there is none.
            words: what the service said, its reasons, names of exceptions: what rules look at.
        """
        return next((it for it in self._rules if it.matches(status, words)), self._otherwise)

    def error(
        self,
        status: int = 0,
        words: str = "",
        *,
        retry_after: float | None = None,
        error_type: type[VrError] = VrError,
        **names: object,
    ) -> VrError:
        """The error of an answer.

        Args:
            status: as of `rule`.
            words: as of `rule`.
            retry_after: seconds; counts when the error is retryable.
            error_type: a class of errors with the same arguments as `VrError`.
            names: more names for messages and hints; `said` when less than `words` is to be shown.
        """
        rule = self.rule(status, words)
        told = {"said": words, "status": status, **names}
        return error_type(
            rule.message.format_map(told),
            rule.code,
            category=rule.category,
            hint=rule.hint.format_map(told),
            retryable=rule.retryable,
            retry_after=retry_after if rule.retryable else None,
        )
