"""A kit for the tests of plugins: model services that answer on this machine, as scripted.

It needs nothing but the kernel, and no test runner; names are imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vr_kernel.testing.contracts import ModelProviderContract
    from vr_kernel.testing.gemini.answer import Answer
    from vr_kernel.testing.gemini.faults import Fault
    from vr_kernel.testing.gemini.request import RecordedRequest
    from vr_kernel.testing.gemini.server import FakeGemini
    from vr_kernel.testing.gemini.wire import GeminiWire
    from vr_kernel.testing.wire import ModelWire, Sent, Trouble

_HOMES = {
    "contracts": "ModelProviderContract",
    "gemini.faults": "Fault",
    "gemini.request": "RecordedRequest",
    "gemini.answer": "Answer",
    "gemini.server": "FakeGemini",
    "gemini.wire": "GeminiWire",
    "wire": "ModelWire Sent Trouble",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "FakeGemini",
    "Fault",
    "GeminiWire",
    "ModelProviderContract",
    "ModelWire",
    "RecordedRequest",
    "Sent",
    "Trouble",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
