"""Errors of a model after which another model may be asked."""

from __future__ import annotations

from vr_kernel.errors import Code, VrError
from vr_kernel.models.circuit import CIRCUIT_OPEN, NOT_ASKED

_OTHERS_MAY_ANSWER = frozenset(
    {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.NOT_FOUND, Code.UNSUPPORTED, Code.BUDGET}
)
"""Errors after which the next model of a role is asked."""
TOO_SMALL = "CONTEXT_EXCEEDED"
"""Category of the error of a request that is larger than a model's window."""
_NONE_CAN = NOT_ASKED - {CIRCUIT_OPEN}
"""Categories of those errors that are not about the model."""


def may_others_answer(error: VrError) -> bool:
    """Check if the failure is one of this model, or one that any other would have."""
    if error.category == TOO_SMALL:
        return True
    return error.code in _OTHERS_MAY_ANSWER and error.category not in _NONE_CAN
