"""Headers that an SDK takes from the environment: they are for its own service, and no other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def withheld(variable: str, key: Mapping[str, str], omitted: object) -> dict[str, Any]:
    """The headers that keep those of the environment from a request.

    Args:
        variable: in which an SDK looks for headers, one a line.
        key: the header of the key, which one of them may replace.
        omitted: the SDK's own sign for a header that is not sent.
    """
    lines = [line for line in os.environ.get(variable, "").split("\n") if ":" in line]
    names = [line.partition(":")[0].strip() for line in lines]
    return {**dict.fromkeys(names, omitted), **key} if names else {}
