"""The plugin's own configuration section, `[plugins.content]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr
from vr_kernel import EnvAlias, Section

ON = "on"
OFF = "off"


def _switch(value: object) -> object:
    """Turn TOML's true and false into the words that stand for them."""
    return {True: ON, False: OFF}.get(value, value) if isinstance(value, bool) else value


class ContentSettings(Section):
    """Settings of the content tools."""

    max_file_mb: int = Field(
        100, ge=1, le=2_000, description="Largest file that is parsed, in MB; also unpacked."
    )
    max_chars: int = Field(
        3_000_000, ge=10_000, le=50_000_000, description="Most characters of a document."
    )
    max_pages: int = Field(5_000, ge=1, le=100_000, description="Most pages of a document.")
    parsers: int = Field(2, ge=1, le=32, description="Processes that parse files, at most.")
    parser_timeout_s: float = Field(
        60.0, gt=0, le=3_600, description="Longest time for one file, in seconds."
    )
    parser_memory_mb: int = Field(
        2_048, ge=256, le=65_536, description="Most memory of one of them, in MB."
    )
    ocr: Annotated[str, BeforeValidator(_switch)] = Field(
        ON, description="Read pages without text: on, off, or the name of a recogniser."
    )
    max_ocr_pages: int = Field(
        50, ge=0, le=5_000, description="Most pages of a document that a recogniser reads."
    )
    max_files: int = Field(
        20_000, ge=1, le=100_000, description="Most files of a folder or repository."
    )
    max_text_file_kb: int = Field(
        1_024, ge=1, le=100_000, description="Largest text file of a folder that is read, in KB."
    )
    passage_chars: int = Field(
        1_500, ge=200, le=8_000, description="Longest passage that a search finds."
    )
    page_tokens: int = Field(
        3_000, ge=200, le=8_000, description="Tokens of one answer of content_read."
    )
    images_at_once: int = Field(
        20, ge=0, le=200, description="Most pictures of pages that a model is given."
    )
    batch_concurrency: int = Field(
        3, ge=1, le=32, description="Files of a batch that are analysed at a time."
    )
    github_token: Annotated[SecretStr, EnvAlias("GITHUB_TOKEN")] = Field(
        SecretStr(""), description="Reads private repositories at GitHub; optional."
    )
    github_api: str = Field(
        "https://api.github.com",
        pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$",
        description="Where GitHub's API is.",
    )
