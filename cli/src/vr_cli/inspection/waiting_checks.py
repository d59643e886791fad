"""Checks that an async function does not block the event loop while it waits."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from vr_kernel import Diagnosis

from vr_cli.inspection.findings import Finding

HOLDS_UP = frozenset(
    {
        *("input", "os.system", "time.sleep"),
        *("urllib.request.urlopen", "urllib.request.urlretrieve"),
        *(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output")),
        *(f"requests.{name}" for name in ("get", "post", "put", "patch", "head", "request")),
        *(f"httpx.{name}" for name in ("get", "post", "put", "patch", "head", "request")),
    }
)
"""Blocking calls, by their qualified names."""


def check_waiting(what: str, name: str, function: Callable[..., Any]) -> Iterator[Finding]:
    """Check for blocking calls in an async function itself, not in functions that it calls."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        calls = list(_calls(tree.body[0]))
    except (OSError, TypeError, SyntaxError):  # its source is not available
        return
    except (RecursionError, MemoryError):  # an expression too long to look through
        return
    found = {spelled: line for spelled, line in calls if _known(spelled, function)}
    for spelled, line in found.items():
        place = function.__code__.co_firstlineno + line - 1
        yield (
            what,
            Diagnosis.warning(
                f"{name} holds up a server: it calls {spelled} in line {place}.",
                f"Write: await asyncio.to_thread({spelled}, …).",
            ),
        )


def _calls(outer: ast.AST) -> Iterator[tuple[str, int]]:
    """Calls by their names as written, without those in nested functions."""
    for node in ast.iter_child_nodes(outer):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno
        yield from _calls(node)


def _known(spelled: str, function: Callable[..., Any]) -> bool:
    """True when the name, as it is imported there, is a blocking call."""
    first, dot, rest = spelled.partition(".")
    meant: Any = function.__globals__.get(first)
    if inspect.ismodule(meant):
        return f"{meant.__name__}{dot}{rest}" in HOLDS_UP
    if meant is not None and not dot:
        module, own = getattr(meant, "__module__", ""), getattr(meant, "__name__", "")
        return f"{module}.{own}" in HOLDS_UP
    return meant is None and spelled == "input"
