"""A stand-in for Anthropic's Messages API: protocol, errors and bill, over a real socket."""

from __future__ import annotations

from vr_testing.anthropic.request import AnthropicRequest
from vr_testing.anthropic.server import FakeAnthropic

__all__ = ["AnthropicRequest", "FakeAnthropic"]
