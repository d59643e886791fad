"""Gemini: the default provider of language models, and what only it has."""

from __future__ import annotations

from vr_kernel.gemini.service import Gemini

__all__ = ["Gemini"]
