"""Names and shapes of secrets."""

from __future__ import annotations

import pytest
from vr_kernel.text import redactor
from vr_kernel.text.secrets import is_secret_name, is_secret_parameter


@pytest.mark.parametrize(
    "name", ["GEMINI_API_KEY", "api_key", "Token", "DB_PASSWORD", "credentials"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert is_secret_name(name, foreign=True)


@pytest.mark.parametrize("name", ["KEYBOARD", "tokenizer", "keyword", "HOME", "LANG"])
def test_ordinary_names(name: str) -> None:
    assert not is_secret_name(name)


def test_of_other_programs_rather_too_much_is_secret() -> None:
    assert is_secret_name("AUTHORIZATION", foreign=True)
    assert not is_secret_name("HOME", foreign=True)


def test_parameters_of_addresses() -> None:
    assert is_secret_parameter("sig", "1")
    assert is_secret_parameter("v", "x" * 24)
    assert not is_secret_parameter("v", "dQw4w9WgXcQ")


@pytest.mark.parametrize("key", ["AIzaSyA1234567890", "AQ.Ab8RN6JkExample", "https://me:pass@host"])
def test_shapes_of_secrets_are_hidden_anywhere(key: str) -> None:
    assert "[secret]" in redactor([])(f"refused {key} now")
