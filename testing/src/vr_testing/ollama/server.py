"""The fake Ollama server."""

from __future__ import annotations

from vr_testing.ollama.behaviour import OllamaBehaviour
from vr_testing.ollama.request import OllamaRequest
from vr_testing.ollama.routes import OllamaRoutes
from vr_testing.service.script import Script
from vr_testing.service.server import FakeService


class FakeOllama(FakeService[OllamaRequest], OllamaBehaviour):
    """An Ollama server on this machine: chats, streams, vectors, its models and what they can do.

    It is scripted as `FakeGemini` is. Like the real one it cuts a request that is longer than the
    context that was asked for, 4,096 tokens when none was: scripted answers are asked about what is
    left of it, and only that is counted, while `requests` has it whole. A level of thinking is
    refused, except for gpt-oss. All that `OllamaBehaviour` names is an attribute here.
    """

    def __init__(self, *, port: int = 0, seed: int = 0) -> None:
        """Prepare the service; see `FakeService`."""
        OllamaBehaviour.__init__(self)
        super().__init__(port=port, seed=seed)

    def serve_with(self, script: Script) -> OllamaRoutes:
        """Return the routes of the server."""
        return OllamaRoutes(self, script)
