"""A stand-in for OpenAI-compatible services: protocol, errors and bill, over a real socket."""

from __future__ import annotations

from vr_testing.openai.request import OpenAIRequest
from vr_testing.openai.server import FakeOpenAI

__all__ = ["FakeOpenAI", "OpenAIRequest"]
