"""The time that a server asks clients to wait."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_S = 86_400.0
"""A longer wait is cut to a day."""


def parse_retry_after(text: str) -> float | None:
    """Seconds of a `Retry-After` header, a number or a date, or of a duration such as `2.5s`.

    None for what is neither (RFC 9110, section 10.2.3; google.protobuf.Duration as JSON).
    """
    text = text.strip()
    try:
        seconds = _number(text)
        if seconds is None:
            seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT_S) if math.isfinite(seconds) else None


def _number(text: str) -> float | None:
    digits = text.removesuffix("s")
    plain = digits.isascii() and digits.replace(".", "", 1).isdigit()
    return float(digits) if plain else None
