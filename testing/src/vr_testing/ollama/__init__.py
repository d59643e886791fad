"""A stand-in for an Ollama server: its own protocol, errors and bill, over a real socket."""

from __future__ import annotations

from vr_testing.ollama.request import OllamaRequest
from vr_testing.ollama.server import FakeOllama

__all__ = ["FakeOllama", "OllamaRequest"]
