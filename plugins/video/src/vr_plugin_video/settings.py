"""The plugin's own configuration section, `[plugins.video]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr
from vr_kernel import EnvAlias, Section

AUTO = "auto"
ON = "on"
OFF = "off"


def _switch(value: object) -> object:
    """Turn TOML's true and false into the words that stand for them."""
    return {True: ON, False: OFF}.get(value, value) if isinstance(value, bool) else value


class VideoSettings(Section):
    """Settings of the video tools."""

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
    tokens_at_once: int = Field(
        1_060_000,
        ge=50_000,
        le=100_000_000,
        description="Tokens of video that a model takes in one call; the default is an hour, or"
        " three at low resolution. What is longer is watched in windows.",
    )
    longest_window_s: float = Field(
        0.0, ge=0, le=86_400, description="Longest such window in seconds; 0: by tokens."
    )
    frames_at_once: int = Field(
        24,
        ge=1,
        le=200,
        description="Most pictures that a model is given which sees pictures, but no videos.",
    )
    batch_concurrency: int = Field(
        3, ge=1, le=32, description="Videos of a batch that are analysed at a time."
    )
    batch_ask_above_tokens: int = Field(
        2_000_000, ge=0, description="A batch that may cost more tokens asks first."
    )
    youtube_api_key: Annotated[SecretStr, EnvAlias("YOUTUBE_API_KEY")] = Field(
        SecretStr(""), description="Key of the YouTube Data API; without one: gemini_api_key."
    )
    gemini_api_key: Annotated[SecretStr, EnvAlias("GEMINI_API_KEY"), EnvAlias("GOOGLE_API_KEY")] = (
        Field(SecretStr(""), description="Tried at YouTube when it has no key of its own.")
    )
    youtube_api_endpoint: str = Field(
        "",
        pattern=r"^(https?://[^/?#@\s]+)?$",
        description="Root address of the YouTube Data API; empty: Google's own.",
    )
    youtube_site: str = Field(
        "https://www.youtube.com",
        pattern=r"^https?://[^/?#@\s]+$",
        description="Where YouTube's pages are.",
    )
    longest_clip_s: float = Field(
        600.0, gt=0, le=86_400, description="Longest part that video_clip cuts, in seconds."
    )
    largest_clip_mb: int = Field(
        200, ge=1, le=100_000, description="Largest file that video_clip makes, in MB."
    )
    max_sessions: Annotated[int, EnvAlias("GEMINI_MAX_SESSIONS")] = Field(
        50,
        ge=1,
        le=100_000,
        description="Sessions of one user in a workspace; the least recently active are dropped.",
    )
    session_timeout_hours: Annotated[float, EnvAlias("GEMINI_SESSION_TIMEOUT_HOURS")] = Field(
        2.0, ge=1, le=87_600, description="Hours without a question after which a session expires."
    )
    session_max_turns: Annotated[int, EnvAlias("GEMINI_SESSION_MAX_TURNS")] = Field(
        24, ge=1, le=1_000, description="Earlier turns that the model is told with each question."
    )
    session_db_path: Annotated[str, EnvAlias("GEMINI_SESSION_DB")] = Field(
        "",
        max_length=4096,
        description="File of sessions of an earlier version, which is taken over once; empty:"
        " sessions.db in the state folder.",
    )
    page_bytes: int = Field(
        10_000, ge=1_000, le=24_000, description="Size of one page of a transcript."
    )
