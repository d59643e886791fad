"""The fake service itself: started and stopped, scripted and asked what happened."""

from __future__ import annotations

from vr_testing.gemini.behaviour import Behaviour
from vr_testing.gemini.request import RecordedRequest
from vr_testing.gemini.routes import Routes
from vr_testing.service.script import Script
from vr_testing.service.server import FakeService


class FakeGemini(FakeService[RecordedRequest], Behaviour):
    """The Gemini service on this machine: real HTTP, scripted answers, real errors, a bill.

    ```python
    with FakeGemini() as gemini:
        gemini.answer("Four.", when=lambda request: "2 + 2" in request.text)
        gemini.fail(Fault.status(503))          # the first request alone
        ...                                     # a client of `gemini.url`
        assert len(gemini.requests_of("generateContent")) == 2
    ```

    It runs in threads of its own: a test may be synchronous or run an event loop, and clients may
    be other processes. It serves what google-genai sends under `/v1beta` and `/v1`: generation,
    streams, token counts, embeddings, resumable uploads, files, context caches and interactions.
    All that `Behaviour` names (`latency`, `keys`, `file_polls`, …) is an attribute here and may be
    set at any time. A request without a script is answered with an instance of the requested
    schema, or a short text.
    """

    def __init__(self, *, port: int = 0, seed: int = 0) -> None:
        """Prepare the service.

        Args:
            port: where to listen on 127.0.0.1; any free port when left out.
            seed: of the random numbers for `fail(..., rate=...)`.
        """
        Behaviour.__init__(self)
        super().__init__(port=port, seed=seed)

    def serve_with(self, script: Script) -> Routes:
        """Return the routes of the service."""
        self._routes = Routes(self, script)
        return self._routes

    def expire_files(self) -> None:
        """Expire all present files, as the service does after 48 hours."""
        self._routes.files.expire()

    def expire_caches(self) -> None:
        """Expire all present context caches."""
        self._routes.caches.expire()

    def forget_interactions(self) -> None:
        """Forget all present interactions, as the service does after 55 days."""
        self._routes.interactions.forget()
