"""The fake of Anthropic's service."""

from __future__ import annotations

from vr_testing.anthropic.behaviour import AnthropicBehaviour
from vr_testing.anthropic.request import AnthropicRequest
from vr_testing.anthropic.routes import AnthropicRoutes
from vr_testing.service.script import Script
from vr_testing.service.server import FakeService


class FakeAnthropic(FakeService[AnthropicRequest], AnthropicBehaviour):
    """Anthropic's service on this machine: messages, streams, counts of tokens, list of models.

    It is scripted as `FakeGemini` is, and refuses what the service refuses: a thought without its
    signature, an empty text, a call without its result. All that `AnthropicBehaviour` names is an
    attribute here.
    """

    def __init__(self, *, port: int = 0, seed: int = 0) -> None:
        """Prepare the service; see `FakeService`."""
        AnthropicBehaviour.__init__(self)
        super().__init__(port=port, seed=seed)

    def serve_with(self, script: Script) -> AnthropicRoutes:
        """Return the routes of the service."""
        return AnthropicRoutes(self, script)
