"""Turns failures of a Weaviate server or its client into our own errors."""

from __future__ import annotations

import re
from dataclasses import replace

from vr_kernel import Code, ErrorRule, ErrorTable, VrError

CONNECTION = "WEAVIATE_CONNECTION"
SCHEMA = "WEAVIATE_SCHEMA"
QUERY = "WEAVIATE_QUERY"
IMPORT = "WEAVIATE_IMPORT"
ROOM = (
    "Free room on the server's disk or in its memory, and restart it: shards that became read-only"
    " stay so until then. What is recorded meanwhile follows."
)

_NO_TENANT = re.compile(r"tenant not found", re.IGNORECASE)
_NO_COLLECTION = re.compile(
    r"could not find class|class \S+ not found|collection \S+ (?:not found|does not exist)"
    r"|no such class|status code: 404",
    re.IGNORECASE,
)
_EXISTS = re.compile(
    r"already (?:exists|contains|has|used|in use)|conflict for property", re.IGNORECASE
)
_AUTH = re.compile(
    r"UNAUTHENTICATED|PERMISSION_DENIED|status code: 40[13]\b|unauthorized|forbidden"
    r"|anonymous access not enabled|invalid api key",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"RESOURCE_EXHAUSTED|status code: 429|too many requests|quota", re.IGNORECASE)
_FULL = re.compile(
    r"(?:store|shard|status) (?:is )?read-?only|not enough (?:memory|disk)|memory pressure"
    r"|no space left on device",
    re.IGNORECASE,
)
# Matched before outages: such a message repeats values, which may hold any words.
_REFUSED = re.compile(
    r"(?:^|errors: )invalid \w+ (?:array )?property|INVALID_ARGUMENT|status code: 4(?:00|22)"
    r"|vector lengths",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"status code: 5\d\d|UNAVAILABLE|DEADLINE_EXCEEDED|CANCELLED|shutting down|shutdown|timeout"
    r"|timed out|leader not found|connection (?:refused|reset)|cannot achieve consistency"
    r"|non-existing index|context (?:canceled|deadline exceeded)|replica|not ready|closed"
    # Names of exception classes, which are appended to the message.
    r"|OSError|TransportError"
    r"|Weaviate(?:Connection|Timeout|StartUp|GRPCUnavailable|Retry|ClosedClient)Error",
    re.IGNORECASE,
)
_SAID_CHARS = 300
_QUERY_REFUSED = ErrorRule(
    code=Code.INVALID_INPUT,
    message="The Weaviate server refused what it was asked: {said}",
    category=QUERY,
    hint="The server's log says more.",
)
_IS_AWAY = ErrorRule(
    words=_AWAY,
    code=Code.UNAVAILABLE,
    message="The Weaviate server at {where} does not answer: {said}",
    category=CONNECTION,
    hint="Check that it runs, and WEAVIATE_URL and WEAVIATE_GRPC_PORT; `vr doctor` looks.",
    retryable=True,
)
_ANSWERS = ErrorTable(
    ErrorRule(
        words=_AUTH,
        code=Code.AUTH,
        message="The Weaviate server at {where} does not accept the key.",
        hint="Set WEAVIATE_API_KEY to a key that may read and write.",
    ),
    ErrorRule(
        words=_QUOTA,
        code=Code.QUOTA,
        message="The Weaviate server at {where} takes no more requests now: {said}",
        hint="Wait, or raise the server's limits.",
        retryable=True,
    ),
    ErrorRule(
        words=_FULL,
        code=Code.UNAVAILABLE,
        message="The Weaviate server at {where} takes no objects now: {said}",
        category=IMPORT,
        hint=ROOM,
        retryable=True,
    ),
    replace(_QUERY_REFUSED, words=_REFUSED),
    _IS_AWAY,
    otherwise=_QUERY_REFUSED,
)


def no_tenant(error: Exception) -> bool:
    """True when the requested workspace has no records yet."""
    return bool(_NO_TENANT.search(str(error)))


def no_collection(error: Exception) -> bool:
    """True when the requested collection does not exist."""
    return bool(_NO_COLLECTION.search(str(error)))


def already_there(error: Exception) -> bool:
    """True when another program has made it first."""
    return bool(_EXISTS.search(str(error)))


def translate(error: Exception, where: str) -> VrError:
    """The error of a call to the server at `where`."""
    if isinstance(error, VrError):
        return error
    said = _said(error)
    kinds = " ".join(kind.__name__ for kind in type(error).__mro__)
    shown = said or type(error).__name__
    return _ANSWERS.error(words=f"{said}\n{kinds}", said=shown, where=where)


def away(where: str, reason: str) -> VrError:
    """The error of a server that does not answer."""
    return ErrorTable(otherwise=_IS_AWAY).error(said=reason, where=where)


def unmade(error: Exception, name: str) -> VrError:
    """The error for a collection that the server does not make or extend, or of the server."""
    failure = translate(error, "WEAVIATE_URL")
    if failure.code is not Code.INVALID_INPUT:
        return failure
    return VrError(
        f"Weaviate does not make or extend the collection {name}: {_said(error)}",
        Code.INVALID_INPUT,
        category=SCHEMA,
        hint="Compare weaviate_replicas, weaviate_shards and weaviate_prefix with what the server"
        " allows. What is recorded meanwhile follows.",
    )


def refused(where: str, kind: str, key: str, said: str) -> VrError:
    """The error for one object that the server refuses, or for a server that accepts none."""
    failure = translate(RuntimeError(said), where)
    if failure.code is not Code.INVALID_INPUT:
        return failure
    return VrError(
        f"Weaviate refused the record {key[:100]} of {kind}: {_said(RuntimeError(said))}",
        Code.INVALID_INPUT,
        hint="Compare the collection's properties in Weaviate with `vr knowledge schema`.",
    )


def _said(error: Exception) -> str:
    details = re.search(r'details = "(.*?)"\s*\n', str(error), re.DOTALL)
    status = re.search(r"StatusCode\.\w+", str(error))
    text = f"{details[1]} ({status[0]})" if details and status else str(error)
    return " ".join(text.split())[:_SAID_CHARS]
