"""The fake OpenAI-compatible service."""

from __future__ import annotations

from vr_testing.openai.behaviour import OpenAIBehaviour
from vr_testing.openai.request import OpenAIRequest
from vr_testing.openai.routes import OpenAIRoutes
from vr_testing.service.script import Script
from vr_testing.service.server import FakeService


class FakeOpenAI(FakeService[OpenAIRequest], OpenAIBehaviour):
    """An OpenAI-compatible service on this machine: OpenAI's own, or one of many others.

    ```python
    with FakeOpenAI() as service:
        service.answer("Four.", when=lambda request: "2 + 2" in request.text)
        service.fail(Fault.status(503))         # the first request alone
        ...                                     # a client with the base URL `service.url`
        assert len(service.requests_of("chat.completions")) == 2
    ```

    It serves chat completions, streams, embeddings and the list of models, at any path, and
    deployments as Azure has them. All that `OpenAIBehaviour` names is an attribute here.
    """

    def __init__(self, *, port: int = 0, seed: int = 0) -> None:
        """Prepare the service; see `FakeService`."""
        OpenAIBehaviour.__init__(self)
        super().__init__(port=port, seed=seed)

    @property
    def url(self) -> str:
        """The base URL for an OpenAI client."""
        return f"{super().url}/v1"

    def serve_with(self, script: Script) -> OpenAIRoutes:
        """Return the routes of the service."""
        return OpenAIRoutes(self, script)
