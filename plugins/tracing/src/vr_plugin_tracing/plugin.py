"""Exports traces and metrics when an address for them is configured."""

from __future__ import annotations
