"""The process that runs a plugin's code, so that none of it runs in the process that reports.

`python -m vr_cli.inspection.child FOLDER` reads FOLDER/request.json and writes
FOLDER/report.json; the plugin's own output goes where this process's output goes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from vr_kernel import VERSION, Diagnosis, Kernel, Level, load_config
from vr_kernel.loading import (
    GROUP,
    Hooks,
    PluginState,
    PluginStatus,
    check,
    discover,
    explain,
    within,
)

from vr_cli.inspection.findings import Finding, guarded, or_ok
from vr_cli.inspection.offers import Offers
from vr_cli.inspection.public_names import PACKAGES
from vr_cli.inspection.request import OUTPUT, REPORT, REQUEST, Request

SLOW_S = 1.0
"""Longest time to load, in seconds, before users would notice."""
LINE_LIMIT = 80
HEAVY = frozenset(
    {"PIL", "aiohttp", "anthropic", "av", "boto3", "bs4", "cv2", "faster_whisper", "fastmcp"}
    | {"google.genai", "googleapiclient", "httpx", "jax", "keras", "langchain", "llama_index"}
    | {"lxml", "matplotlib", "mcp", "nltk", "numpy", "onnxruntime", "openai", "pandas"}
    | {"playwright", "polars", "pyarrow", "rapidocr", "requests", "rich", "scipy", "selenium"}
    | {"sentence_transformers", "skimage", "sklearn", "spacy", "sqlalchemy", "sympy"}
    | {"tensorflow", "tokenizers", "torch", "transformers", "weaviate"}
)
"""Libraries that take long to import, or much memory."""


def main() -> None:
    """Inspect, report, and end at once, whatever the plugin has left running."""
    folder = Path(sys.argv[1])
    request = Request(**json.loads((folder / REQUEST).read_text("utf-8")))
    findings = [(check, asdict(found)) for check, found in inspect(request, folder)]
    (folder / REPORT).write_text(json.dumps(findings), "utf-8")
    os._exit(0)


def inspect(request: Request, folder: Path) -> Iterator[Finding]:
    """Load the plugin, call its hooks, and put it into a kernel beside the installed plugins."""
    modules, threads = set(sys.modules), set(threading.enumerate())
    started = time.perf_counter()
    try:
        plugin = within(request.deadline_s, lambda: _load(request))
        imported_s = time.perf_counter() - started
        hooks = Hooks()
        within(request.deadline_s, lambda: hooks.register(plugin, request.name))
    except Exception as failure:  # noqa: BLE001 - whatever a plugin raises is a finding
        yield _not_loaded(failure, request)
        return
    found = list(Offers(hooks, request.name, request.deadline_s).check())
    yield from or_ok("import", _import_findings(modules, threads), f"{imported_s:.2f} s")
    yield from or_ok(
        "start", _start_findings(folder, time.perf_counter() - started), "quick and quiet"
    )
    yield (
        "hooks",
        Diagnosis.ok(", ".join(name for name in hooks.names() if _has(plugin, name)) or "none"),
    )
    yield from found
    broken = any(finding[1].level is Level.FAULT for finding in found)
    beside = guarded(
        "kernel",
        lambda: _beside_others(plugin, request, folder, broken),
        "Repair what else is found.",
    )
    yield from or_ok("kernel", beside, "loaded")


def _load(request: Request) -> object:
    if request.target:
        sys.path.insert(0, request.source)
        return EntryPoint(request.name, request.target, GROUP).load()
    for candidate in discover():
        if (candidate.name, candidate.distribution) == (request.name, request.distribution):
            return candidate.load()
    raise LookupError(f"{request.distribution} is not installed any more")


def _not_loaded(failure: Exception, request: Request) -> Finding:
    if type(failure).__name__ in ("HookError", "PluginValidationError"):
        fix = "The page Hooks of the documentation lists them with their arguments."
        return ("hooks", Diagnosis.fault(explain(failure), fix))
    fix = "Do nothing at import that can fail, wait or end the program; do it inside a tool."
    if isinstance(failure, ImportError) and failure.name:
        own = request.target.partition(":")[0].partition(".")[0]
        fix = remedy_of_import(failure.name, own)
    return ("import", Diagnosis.fault(explain(failure) + _place(failure, request), fix))


def remedy_of_import(module: str, own: str) -> str:
    """One sentence about a module that could not be imported, or lacks what is imported from it.

    Args:
        module: the module.
        own: the package of the project; empty for an installed plugin.
    """
    top = module.partition(".")[0]
    if own and top == own:
        return "Correct the entry point or the import: that module is not in the project."
    if find_spec(top) is None:
        return f"Install {module} here and name it in dependencies, or correct what imports it."
    if top in PACKAGES:
        return f"Correct the import: import a public name of {top}."
    return f"Correct the import: {top} is installed, in a version without that."


def _place(failure: Exception, request: Request) -> str:
    """The project's line that raised, such as ` (plugin.py, line 12)`."""
    frames = traceback.extract_tb(failure.__traceback__)
    own = [f for f in frames if request.source and f.filename.startswith(request.source)]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _import_findings(modules: set[str], threads: set[threading.Thread]) -> Iterator[Finding]:
    heavy = sorted(HEAVY & (set(sys.modules) - modules))
    if heavy:
        fix = "Import it inside the functions that use it; with TYPE_CHECKING for annotations."
        yield (
            "import",
            Diagnosis.warning(f"It imports {', '.join(heavy)} before a tool is called.", fix),
        )
    own = [t for t in threading.enumerate() if t not in threads and t.name != "vr-plugin-load"]
    if own:
        message = f"It starts the thread {own[0].name} before a tool is called."
        yield (
            "import",
            Diagnosis.warning(message, "Start it inside the tool or provider that needs it."),
        )


def _start_findings(folder: Path, seconds: float) -> Iterator[Finding]:
    with suppress(ValueError, AttributeError):  # the plugin may have closed it, or set it to None
        sys.stdout.flush()
    with (folder / OUTPUT).open(encoding="utf-8", errors="replace") as output:
        first = output.readline(LINE_LIMIT)
    if first:
        message = f"It prints while it is loaded: {first.strip()!r}"
        yield ("start", Diagnosis.warning(message, "Use call.log: stdout belongs to the protocol."))
    if seconds > SLOW_S:
        message = f"It takes {seconds:.1f} s to load, of every start of vr."
        yield (
            "start",
            Diagnosis.warning(message, "Move work and imports into the functions that need them."),
        )


def _beside_others(
    plugin: object, request: Request, folder: Path, broken: bool
) -> Iterator[Finding]:
    places = {f"VR_{name}_DIR": str(folder / name) for name in ("CONFIG", "STATE", "CACHE")}
    deadline = {"VR_KERNEL__IMPORT_DEADLINE_S": str(request.deadline_s), "VR_STRICT": "0"}
    config = load_config({**places, **deadline}, working_folder=folder)
    kernel = Kernel(config, {**_others(request), request.name: plugin})
    if kernel.has_lifespans:
        asyncio.run(_begun(kernel))
    for status in kernel.plugins():
        problem = _problem(status, request, broken)
        if problem:
            fix = "Choose other names: of two equal ones the kernel serves one."
            yield (
                "kernel",
                Diagnosis.fault(
                    problem, fix if status.state is PluginState.CONFLICT else "Correct it."
                ),
            )


async def _begun(kernel: Kernel) -> None:
    try:
        await kernel.begin()
    finally:
        await kernel.aclose()


def _problem(status: PluginStatus, request: Request, broken: bool) -> str:
    if status.name == request.name:
        known = broken and status.state is PluginState.BROKEN
        return "" if status.fine or known else f"{status.state.capitalize()}: {status.reason}"
    if status.state is PluginState.CONFLICT and f"plugin {request.name}" in status.reason:
        return f"It takes from plugin {status.name}: {status.reason}"
    return ""


def _others(request: Request) -> dict[str, Any]:
    """The installed plugins that can be loaded, as this user's configuration chooses them."""
    checked = check(
        [c for c in discover() if not _is_own(c.distribution, request)],
        wanted=request.wanted,
        disabled=request.disabled,
        kernel_version=VERSION,
    )
    loaded: dict[str, Any] = {}
    for candidate, status in checked:
        if status.state is PluginState.LOADED and candidate.name != request.name:
            try:
                loaded[candidate.name] = within(request.deadline_s, candidate.load)
            except Exception:  # noqa: BLE001, S112 - another plugin's fault is not looked for here
                continue
    return loaded


def _is_own(distribution: str, request: Request) -> bool:
    return canonicalize_name(distribution) == canonicalize_name(request.distribution)


def _has(plugin: object, hook: str) -> bool:
    return callable(getattr(plugin, hook, None))


if __name__ == "__main__":
    main()
