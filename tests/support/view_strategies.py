"""Any view, any JSON value, any text: strategies for hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from vr_kernel import views
from vr_kernel.views import Block, Compare, View

SIGNS = (
    "\ud800", "\x1b[31m", "\x9b", "\0", "\u202e", "\u200d", "e\u0301", "日本", "العربية",
    "<b>", "&lt;",
    "[1]", "![", "](", "https://a.example/", "javascript:", "\n", "\n# ", "\n- ", "\n1. ", "\n> ",
    "\n```\n", "`", "*", "**", "_", "|", "\\", "=", " ", "\t", '{"a": [1]}', "vr://artifacts/a",
    "2026-03-01T10:00:00Z",
)  # fmt: skip
PICTURE = "data:image/png;base64,AAAA"
"""Bytes of a picture as text; with other signs behind it, it is none, and no view takes it."""
texts = st.one_of(
    st.text(),
    st.lists(st.sampled_from(SIGNS) | st.text(max_size=4)).map("".join),
    st.just(PICTURE),
)
"""Texts, among them those that mean something to a form."""
numbers = st.floats(allow_nan=False, allow_infinity=False)
odd_numbers = st.floats() | st.sampled_from([10**400, -(10**400), 1e308])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
_PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**63), 2**63),
    float: numbers,
    bool: st.booleans(),
    bytes: st.binary(max_size=20),
    NoneType: st.none(),
    Any: json_values,
}


def any_view(depth: int = 1) -> st.SearchStrategy[View]:
    """Any view; those that it compares hold no others."""
    return _built(View, depth)


@cache
def _built(of: type[Any], depth: int) -> st.SearchStrategy[Any]:
    hints = get_type_hints(of, localns={it: getattr(views, it) for it in views.__all__})
    named = {field.name: _of(hints[field.name], depth) for field in fields(of)}
    return st.builds(of, **named)


def _blocks(depth: int) -> st.SearchStrategy[Any]:
    known = {each.__name__: getattr(views, each.__name__) for each in Block.__subclasses__()}
    return st.one_of(
        [
            st.deferred(lambda of=of: _built(of, depth - (of is Compare)))
            for of in known.values()
            if depth or of is not Compare
        ]
    )


def _of(hint: Any, depth: int) -> st.SearchStrategy[Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is not None:
        return _composed(origin, inner, depth)
    if hint is Block:
        return _blocks(depth)
    return st.deferred(lambda: _built(hint, depth)) if is_dataclass(hint) else _PLAIN[hint]


def _composed(origin: Any, inner: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if origin is Literal:
        return st.sampled_from(inner)
    each = [_of(it, depth) for it in inner]
    if origin is tuple:
        return st.tuples(*each)
    if origin is Mapping:
        return st.dictionaries(each[0], each[1], max_size=3)
    return st.lists(each[0], max_size=3) if origin is Sequence else st.one_of(each)
