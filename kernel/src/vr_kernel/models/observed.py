"""Requests to models as plugins hear of them; nothing is kept while no plugin does."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from vr_kernel.errors import Code, VrError
from vr_kernel.events import RequestFinished
from vr_kernel.generation import Usage

if TYPE_CHECKING:
    from vr_kernel.models.usage import Meter
    from vr_kernel.spending.paid_requests import PaidRequest


class Told(Protocol):
    """The listeners to requests; false while there are none."""

    def __bool__(self) -> bool:
        """True when a plugin listens."""

    def tell_soon(self, event: Any) -> None:
        """Tell them in the background."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One attempt that has been sent.

    Args:
        request: what was sent.
        number: of the attempt, from 1.
        meter: of the call that pays.
    """

    request: PaidRequest[Any]
    number: int
    meter: Meter
    started_at: float = field(default_factory=time.time)
    begun: float = field(default_factory=time.monotonic)

    def finished(
        self, usage: Usage | None, answered_by: str, error: VrError | None, *, given_up: bool
    ) -> RequestFinished:
        """Return the event of its end."""
        meter, model = self.meter, self.request.model
        code = error.code if error is not None else Code.CANCELLED if given_up else None
        return RequestFinished(
            call_id=meter.call_id,
            tool=meter.tool,
            plugin=meter.plugin,
            principal=meter.principal,
            workspace=meter.workspace,
            provider=model.provider.name,
            model=model.id,
            role=model.role,
            purpose=self.request.purpose,
            attempt=self.number,
            answered_by=answered_by,
            code=code,
            category=error.category if error is not None else "GIVEN_UP" if given_up else "",
            usage=usage,
            started_at=self.started_at,
            duration_s=time.monotonic() - self.begun,
            trace=meter.trace,
        )
