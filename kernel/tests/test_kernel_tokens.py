"""The estimate of tokens is near what a tokenizer counts, in every script."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_kernel import estimate_tokens

RECORD = {
    "collection": "VideoSegments",
    "object_id": "0b5dd3b6-5a1f-5a7a-9d0e-8a3b7c1e2f44",
    "score": 0.731245,
    "properties": {"video_id": "dQw4w9WgXcQ", "start": 12.44, "text": "A talk about stores."},
    "link": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=12",
    "created_at": "2026-01-31T12:00:00.123456+00:00",
}
TEXTS = {
    "English": "The store keeps every record that a tool writes, and a search finds it again.",
    "German": "Die Krankenversicherung zahlt die Behandlung; Müller wohnt in der Hauptstraße.",
    "Russian": "База знаний хранит все записи, а поиск находит их по словам и по смыслу.",  # noqa: RUF001 - Russian
    "Arabic": "يقرأ الطالب كتابا في المكتبة الكبيرة ويبحث عن المعرفة في كل السجلات.",
    "Hebrew": "מאגר הידע שומר את כל הרשומות והחיפוש מוצא אותן לפי מילים.",
    "Japanese": "知識ベースは、これまでに学んだすべてのことを一つの場所に保存します。",
    "Chinese": "人工智能正在改变软件开发的方式。知识库保存了所有记录。",
    "Korean": "한국어 문장을 검색합니다. 지식 베이스는 모든 기록을 저장합니다.",
    "emoji": "😀🎉🚀👩‍👩‍👧‍👦🇩🇪👍🏽🧑🏿‍💻🥑📚🔍",
    "code": "def best(self, limit: int) -> list[int]:\n    return self._rows[: limit + 1]  # x\n",
    "JSON": json.dumps(RECORD),
    "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "numbers": "[0.123456, -0.9876, 0.25, 17, 3.14159, 2718281828]",
}


COUNTED = {
    "English": 17,
    "German": 16,
    "Russian": 20,
    "Arabic": 19,
    "Hebrew": 21,
    "Japanese": 26,
    "Chinese": 16,
    "Korean": 18,
    "emoji": 37,
    "code": 27,
    "JSON": 145,
    "digest": 43,
    "numbers": 32,
}
"""Tokens of o200k_base, counted by bpe-openai 0.1.4."""


@pytest.mark.parametrize("name", TEXTS)
def test_an_estimate_is_near_the_tokens_of_a_text(name: str) -> None:
    assert 0.9 * COUNTED[name] <= estimate_tokens(TEXTS[name]) <= 1.8 * COUNTED[name]


@given(st.text(), st.text())
def test_more_text_costs_no_less(first: str, second: str) -> None:
    assert 0 <= estimate_tokens(first) <= estimate_tokens(first + second) + 1
    assert estimate_tokens(first + second) <= estimate_tokens(first) + estimate_tokens(second) + 1


@given(st.text(alphabet="知識ベースは、学んだ", max_size=50))
def test_a_japanese_character_is_a_token(text: str) -> None:
    assert estimate_tokens(text) == len(text)
