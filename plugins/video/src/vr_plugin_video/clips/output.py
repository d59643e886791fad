"""The file that a clip is written to: bounded in size, with clear errors for a full disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from vr_kernel import Code, VrError

from vr_plugin_video.clips.request import ClipRequest

if TYPE_CHECKING:
    from av.packet import Packet

BYTES_PER_MB = 1_000_000


class Output:
    """A container that is written packet by packet."""

    def __init__(self, request: ClipRequest, form: str, **options: str) -> None:
        import av

        self._largest = request.largest
        self._folder = request.target.parent.parent
        self._failures = (OSError, av.FFmpegError)
        self._written = 0
        with self._explained():
            self._container: Any = av.open(str(request.target), "w", format=form, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            with suppress(*self._failures):
                self._container.close()
            return
        with self._explained():
            self._container.close()

    def add(self, codec: str, **options: Any) -> Any:
        """A stream of the clip; all of them are added before the first packet."""
        return self._container.add_stream(codec, **options)

    def mux(self, packet: Packet[Any]) -> None:
        """Write a packet.

        Raises:
            VrError: TOO_LARGE; UNAVAILABLE, category STATE_UNAVAILABLE, for a full disk.
        """
        self._written += packet.size
        check_size(self._written, self._largest)
        with self._explained():
            self._container.mux(packet)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._failures as error:
            raise unwritable(self._folder, error) from error


def find_encoder(*names: str) -> str:
    """The first of these encoders that this build of FFmpeg has, or else the last."""
    from av.codec import Codec
    from av.codec.codec import UnknownCodecError

    for name in names[:-1]:
        with suppress(UnknownCodecError):
            Codec(name, "w")
            return name
    return names[-1]


def check_size(size: int, largest: int) -> None:
    """Refuse a clip that grew larger than `largest` bytes.

    Raises:
        VrError: TOO_LARGE, category CLIP_TOO_LARGE.
    """
    if size > largest:
        raise VrError(
            f"The clip would have more than {largest / BYTES_PER_MB:,.0f} MB.",
            Code.TOO_LARGE,
            category="CLIP_TOO_LARGE",
            hint="Cut a shorter part; largest_clip_mb in [plugins.video] sets the limit.",
        )


def unwritable(folder: Path, error: Exception) -> VrError:
    """The error of a clip that cannot be written."""
    from vr_kernel.storage import unwritten

    return unwritten("The clip", folder, error)


def nothing_there() -> VrError:
    """The error for a part of a damaged file in which nothing can be read."""
    return VrError(
        "Nothing can be read in this part of the file.",
        Code.UNSUPPORTED,
        category="FILE_UNSUPPORTED",
        hint="The file is damaged or cut off there: choose an earlier part.",
    )
