"""A kit for the tests of plugins: kernels, stores and services of this machine, and contracts.

It needs nothing but the kernel; names are imported at first use. For pytest there are fixtures,
too: `pytest_plugins = ["vr_testing.fixtures"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel import lazy_exports

if TYPE_CHECKING:
    from vr_testing.embedder_contract import EmbedderContract
    from vr_testing.gemini.answer import Answer
    from vr_testing.gemini.faults import Fault
    from vr_testing.gemini.request import RecordedRequest
    from vr_testing.gemini.server import FakeGemini
    from vr_testing.gemini.wire import GeminiWire
    from vr_testing.kernels import TrialKernel, open_kernel
    from vr_testing.loader_contract import DocumentLoaderContract
    from vr_testing.memory_store import MemoryStore
    from vr_testing.model_contract import ModelProviderContract
    from vr_testing.recognizer_contract import TextRecognizerContract
    from vr_testing.recording import LogLine, Progress, RecordedCall
    from vr_testing.reranker_contract import RerankerContract
    from vr_testing.store_contract import StoreContract
    from vr_testing.wire import ModelWire, Sent, Trouble
    from vr_testing.words import WordEmbedder

_HOMES = {
    "gemini.faults": "Fault",
    "gemini.request": "RecordedRequest",
    "gemini.answer": "Answer",
    "gemini.server": "FakeGemini",
    "gemini.wire": "GeminiWire",
    "embedder_contract": "EmbedderContract",
    "kernels": "TrialKernel open_kernel",
    "loader_contract": "DocumentLoaderContract",
    "memory_store": "MemoryStore",
    "model_contract": "ModelProviderContract",
    "recognizer_contract": "TextRecognizerContract",
    "recording": "LogLine Progress RecordedCall",
    "reranker_contract": "RerankerContract",
    "store_contract": "StoreContract",
    "wire": "ModelWire Sent Trouble",
    "words": "WordEmbedder",
}
__all__ = [
    "Answer",
    "DocumentLoaderContract",
    "EmbedderContract",
    "FakeGemini",
    "Fault",
    "GeminiWire",
    "LogLine",
    "MemoryStore",
    "ModelProviderContract",
    "ModelWire",
    "Progress",
    "RecordedCall",
    "RecordedRequest",
    "RerankerContract",
    "Sent",
    "StoreContract",
    "TextRecognizerContract",
    "TrialKernel",
    "Trouble",
    "WordEmbedder",
    "open_kernel",
]

__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
