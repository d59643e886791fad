"""Vectors from the embedder, prepared for both stores."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from vr_kernel import Code, Query, Vectors, VrError

FLOAT_BYTES = 4
_NOT_NOW = {"KERNEL_CLOSED", "PREVIEWED"}
"""Categories of errors of an embedder that is not asked now, whatever the text."""
_OUTAGES = {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.BUDGET}


def wants_vectors(query: Query, vectors: Vectors) -> bool:
    """True when a query asks for a search by meaning, and one is possible.

    Raises:
        VrError: INVALID_INPUT for a vector of another dimension than the embedder's.
    """
    wanted = query.mode == "semantic" or (query.mode == "hybrid" and query.alpha > 0)
    if not wanted or query.vector is None or not vectors.available():
        return False
    dimension = vectors.dimension
    if len(query.vector) != dimension:
        raise VrError(
            f"The vector has {len(query.vector)} numbers; those of"
            f" {vectors.embedder_id} have {dimension}.",
            Code.INVALID_INPUT,
            hint="Embed the question with the embedder of the store.",
        )
    return True


def is_outage(error: Exception) -> bool:
    """True when the embedder failed as a whole, and not on one text."""
    if not isinstance(error, VrError):
        return False
    return error.retryable or error.code in _OUTAGES or error.category in _NOT_NOW


def pack_vector(vector: Sequence[float], dimension: int) -> bytes | None:
    """A vector of unit length in the form of the database; None when it has no direction."""
    return unit_vectors([pack(f"{len(vector)}f", *vector)], dimension)[0]


def unit_vectors(vectors: Sequence[bytes], dimension: int) -> list[bytes | None]:
    """Packed vectors brought to unit length; None for one that has no direction."""
    import numpy as np

    length = dimension * FLOAT_BYTES
    fitting = [vector if len(vector) == length else bytes(length) for vector in vectors]
    values = np.frombuffer(b"".join(fitting), np.float32).reshape(len(fitting), dimension)
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        units = values / lengths
    sound = (np.isfinite(lengths) & (lengths > 0)).ravel().tolist()
    return [unit.tobytes() if fits else None for unit, fits in zip(units, sound, strict=True)]
