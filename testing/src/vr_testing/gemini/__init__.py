"""A stand-in for the Gemini service: its protocol, its errors and its bill, over a real socket."""

from __future__ import annotations

from vr_testing.gemini.faults import Fault
from vr_testing.gemini.request import RecordedRequest
from vr_testing.gemini.server import FakeGemini
from vr_testing.service.answer import Answer

__all__ = ["Answer", "FakeGemini", "Fault", "RecordedRequest"]
