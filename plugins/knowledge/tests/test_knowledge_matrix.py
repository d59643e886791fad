"""The matrix against plain arithmetic: any sequence of puts and drops, any filter."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_plugin_knowledge.embedded_store import scope_vectors
from vr_plugin_knowledge.embedded_store.pieces import Pieces
from vr_plugin_knowledge.embedded_store.scope_vectors import ScopeVectors
from vr_plugin_knowledge.matching.embeddings import pack_vector

DIMENSION = 4
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sets(st.integers(1, 40), min_size=1, max_size=9)),
        st.tuples(st.just("drop"), st.integers(1, 40)),
    ),
    max_size=25,
)


@settings(max_examples=30)
@given(OPERATIONS, st.sets(st.integers(1, 45)), st.integers(1, 12), st.booleans())
def test_finds_what_a_loop_finds(
    operations: list[tuple[str, set[int] | int]], permitted: set[int], limit: int, filtered: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scope_vectors, "BLOCK_ROWS", 8)
        patch.setattr(scope_vectors, "PIECE_ROWS", 4)
        patch.setattr(scope_vectors, "RUN", 2)
        patch.setattr(scope_vectors, "CACHED_ROWS", 5)
        with ThreadPoolExecutor(1) as helper:
            check(helper, operations, permitted if filtered else None, limit)


def check(
    helper: ThreadPoolExecutor,
    operations: list[tuple[str, set[int] | int]],
    permitted: set[int] | None,
    limit: int,
) -> None:
    import numpy as np

    vectors = ScopeVectors(DIMENSION)
    random = np.random.default_rng(len(operations))
    plain: dict[int, Any] = {}
    for name, items in operations:
        if name == "put" and isinstance(items, set):
            values = random.standard_normal((len(items), DIMENSION)).astype(np.float32)
            vectors.put(np.array(sorted(items)), values)
            plain.update(zip(sorted(items), values, strict=True))
        elif isinstance(items, int):
            vectors.drop(items)
            plain.pop(items, None)
    query = random.standard_normal(DIMENSION).astype(np.float32)
    allowed = None if permitted is None else np.array(sorted(permitted), np.int64)
    comparison = vectors.compare(query, allowed)
    pieces = Pieces(comparison.pieces, lambda: comparison.best(limit), helper)
    found, scores = pieces.finish()
    expected = {
        item: float(value @ query)
        for item, value in plain.items()
        if permitted is None or item in permitted
    }
    assert vectors.size == len(plain)
    assert scores.tolist() == pytest.approx(
        sorted(expected.values(), reverse=True)[:limit], abs=1e-5
    )
    assert [expected[int(item)] for item in found] == pytest.approx(scores.tolist(), abs=1e-5)


@pytest.mark.parametrize("vector", [[0.0] * 3, [1.0, float("nan"), 0.0], [1.0, 2.0]])
def test_what_has_no_direction_is_not_kept(vector: list[float]) -> None:
    assert pack_vector(vector, 3) is None


def test_vectors_are_kept_at_unit_length() -> None:
    import numpy as np

    packed = pack_vector([3.0, 0.0, 4.0], 3)
    assert packed is not None
    assert np.frombuffer(packed, np.float32).tolist() == pytest.approx([0.6, 0.0, 0.8])
