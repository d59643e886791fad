"""The plugin's own configuration section, `[plugins.video]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field
from vr_kernel import Section

AUTO = "auto"
ON = "on"
OFF = "off"


def _switch(value: object) -> object:
    """TOML's true and false as the words that stand for them."""
    return {True: ON, False: OFF}.get(value, value) if isinstance(value, bool) else value


class VideoSettings(Section):
    """How the local engine listens, reads and pages."""

    speech_model: str = Field(
        AUTO,
        min_length=1,
        max_length=4096,
        description="Whisper model: a name such as base or tiny.en, a folder, or auto: the best"
        " one that is installed.",
    )
    language: str = Field(
        "",
        pattern=r"^([a-z]{2,3})?$",
        description="Spoken language, such as en; empty: detected.",
    )
    threads: int = Field(2, ge=1, le=64, description="Processor threads of speech recognition.")
    ocr: Annotated[str, BeforeValidator(_switch)] = Field(
        ON, description="Read text on screen: on, off, or the name of a recogniser."
    )
    max_scenes: int = Field(40, ge=1, le=200, description="Most scenes that are looked at.")
    max_download_mb: int = Field(
        2000, ge=1, le=100_000, description="Largest video that is downloaded, in MB."
    )
    download_deadline_s: float = Field(
        1800.0, gt=0, le=86_400, description="Longest time for one download, in seconds."
    )
    page_bytes: int = Field(
        10_000, ge=1_000, le=24_000, description="Size of one page of a transcript."
    )
