"""A kit for the tests of plugins: kernels, stores and services of this machine, and contracts.

It needs nothing but the kernel and pytest; only MCP clients need the extra `vr-testing[server]`.
Names are imported at first use. Its fixtures are there wherever it is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel import lazy_exports

if TYPE_CHECKING:
    from vr_testing.anthropic.server import FakeAnthropic
    from vr_testing.anthropic.wire import AnthropicWire
    from vr_testing.block_samples import sample_view
    from vr_testing.contracts.embedder import EmbedderContract
    from vr_testing.contracts.loader import DocumentLoaderContract
    from vr_testing.contracts.model import ModelProviderContract
    from vr_testing.contracts.model_wire import ModelWire, Sent, Trouble
    from vr_testing.contracts.recognizer import TextRecognizerContract
    from vr_testing.contracts.reranker import RerankerContract
    from vr_testing.contracts.searching import SearchProviderContract
    from vr_testing.contracts.state.artifacts import ArtifactStoreContract
    from vr_testing.contracts.state.part import Clock
    from vr_testing.contracts.state.state import StateContract
    from vr_testing.contracts.store import StoreContract
    from vr_testing.contracts.view import check_view
    from vr_testing.gemini.faults import Fault
    from vr_testing.gemini.request import RecordedRequest
    from vr_testing.gemini.server import FakeGemini
    from vr_testing.gemini.wire import GeminiWire
    from vr_testing.kernels import TrialKernel, open_kernel
    from vr_testing.memory_state.artifacts import MemoryArtifacts
    from vr_testing.memory_state.state import MemoryState
    from vr_testing.memory_store import MemoryStore
    from vr_testing.ollama.server import FakeOllama
    from vr_testing.ollama.wire import OllamaWire
    from vr_testing.openai.server import FakeOpenAI
    from vr_testing.openai.wire import OpenAIWire
    from vr_testing.recording import LogLine, Progress, RecordedCall
    from vr_testing.service.answer import Answer, FunctionCall
    from vr_testing.words import WordEmbedder

_HOMES = {
    "anthropic.server": "FakeAnthropic",
    "anthropic.wire": "AnthropicWire",
    "gemini.faults": "Fault",
    "gemini.request": "RecordedRequest",
    "service.answer": "Answer FunctionCall",
    "gemini.server": "FakeGemini",
    "gemini.wire": "GeminiWire",
    "contracts.embedder": "EmbedderContract",
    "kernels": "TrialKernel open_kernel",
    "contracts.loader": "DocumentLoaderContract",
    "contracts.state.artifacts": "ArtifactStoreContract",
    "contracts.state.part": "Clock",
    "contracts.state.state": "StateContract",
    "memory_state.artifacts": "MemoryArtifacts",
    "memory_state.state": "MemoryState",
    "memory_store": "MemoryStore",
    "contracts.model": "ModelProviderContract",
    "ollama.server": "FakeOllama",
    "ollama.wire": "OllamaWire",
    "openai.server": "FakeOpenAI",
    "openai.wire": "OpenAIWire",
    "contracts.recognizer": "TextRecognizerContract",
    "recording": "LogLine Progress RecordedCall",
    "contracts.reranker": "RerankerContract",
    "contracts.searching": "SearchProviderContract",
    "contracts.store": "StoreContract",
    "contracts.view": "check_view",
    "block_samples": "sample_view",
    "contracts.model_wire": "ModelWire Sent Trouble",
    "words": "WordEmbedder",
}
__all__ = [
    "Answer",
    "AnthropicWire",
    "ArtifactStoreContract",
    "Clock",
    "DocumentLoaderContract",
    "EmbedderContract",
    "FakeAnthropic",
    "FakeGemini",
    "FakeOllama",
    "FakeOpenAI",
    "Fault",
    "FunctionCall",
    "GeminiWire",
    "LogLine",
    "MemoryArtifacts",
    "MemoryState",
    "MemoryStore",
    "ModelProviderContract",
    "ModelWire",
    "OllamaWire",
    "OpenAIWire",
    "Progress",
    "RecordedCall",
    "RecordedRequest",
    "RerankerContract",
    "SearchProviderContract",
    "Sent",
    "StateContract",
    "StoreContract",
    "TextRecognizerContract",
    "TrialKernel",
    "Trouble",
    "WordEmbedder",
    "check_view",
    "open_kernel",
    "sample_view",
]

__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
