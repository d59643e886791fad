"""Speech to text with faster-whisper, block by block, so that memory stays bounded."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from vr_kernel import Code, VrError

from vr_plugin_video.captions.transcripts import Segment, Transcript
from vr_plugin_video.speech.model_files import check_files, damaged_model
from vr_plugin_video.speech.sentences import Word, sentences
from vr_plugin_video.speech.speech_models import SpeechModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_RATE = 16_000
BLOCK_S = 120.0
"""Seconds of audio that are recognised at once; the model itself works on 30 s at a time."""
BEAM_SIZE = 5
HEARD_AGAIN_S = 8.0
"""Sentences that end within this many seconds of a block's end are heard again with the next."""
LONGEST_CARRY_S = 40.0
LEAD_IN_S = 0.5
_DOUBTFUL_SILENCE = 0.5
_DOUBTFUL_LOGPROB = -0.8
"""Above the first and below the second, Whisper invents words for noise (film without speech)."""


class SpeechRecognizer:
    """One loaded Whisper model, for one thread at a time."""

    def __init__(self, model: SpeechModel, threads: int) -> None:
        """Load the model into memory, without the network; blocks for a second or more.

        Raises:
            VrError: CONFLICT when the model's files are damaged.
        """
        # faster-whisper imports onnxruntime, which reports use to Microsoft unless this is set.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        from faster_whisper import WhisperModel

        check_files(model.name, model.folder)
        self.model = model
        try:
            self._whisper = WhisperModel(
                str(model.folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=threads,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise damaged_model(model.name, str(error).splitlines()[0]) from error
        self._multilingual = bool(self._whisper.model.is_multilingual)

    def transcribe(
        self,
        file: BinaryIO,
        start: float,
        end: float,
        language: str,
        heard: Callable[[float], None],
    ) -> Transcript:
        """Return the sentences between two times in seconds.

        Args:
            file: an opened media file.
            start: where to begin.
            end: where to stop.
            language: ISO 639-1 code, or empty to detect it.
            heard: is called with the second reached so far; raises to stop.

        Raises:
            VrError: UNSUPPORTED when the model does not know the language.
        """
        from vr_plugin_video.speech.audio import audio_blocks

        spoken = self._language(language)
        segments: list[Segment] = []
        carried: _Block | None = None
        source = audio_blocks(file, start, end, BLOCK_S)
        blocks = (_Block(at, samples) for at, samples in source)
        current = next(blocks, None)
        while current is not None:
            following = next(blocks, None)
            block = current.after(carried)
            found, spoken = self._recognize(block, spoken, heard)
            final, carried = block.settle(found) if following else (found, None)
            segments.extend(final)
            current = following
        return Transcript(
            segments=tuple(segments), origin="speech", language=spoken, model=self.model.name
        )

    def _language(self, wanted: str) -> str:
        if self._multilingual:
            return wanted
        if wanted not in ("", "en"):
            raise VrError(
                f"The speech model {self.model.name} knows English only, not {wanted!r}.",
                Code.UNSUPPORTED,
                category="LANGUAGE_UNSUPPORTED",
                hint="Fetch a model that knows more: vr video fetch-models base",
            )
        return "en"

    def _recognize(
        self, block: _Block, language: str, heard: Callable[[float], None]
    ) -> tuple[list[Segment], str]:
        pieces, about = self._whisper.transcribe(
            block.samples,
            language=language or None,
            beam_size=BEAM_SIZE,
            vad_filter=True,
            word_timestamps=True,
        )
        words: list[Word] = []
        for piece in pieces:
            heard(block.at + float(piece.end))
            if piece.no_speech_prob > _DOUBTFUL_SILENCE and piece.avg_logprob < _DOUBTFUL_LOGPROB:
                continue
            words += [
                Word(block.at + float(w.start), block.at + float(w.end), w.word)
                for w in piece.words or ()
            ]
        heard(block.at + len(block.samples) / SAMPLE_RATE)
        # A language guessed from silence must not bind the following blocks.
        return sentences(words), str(about.language) if words else language


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of audio, and the second at which it begins."""

    at: float
    samples: NDArray[np.float32]

    def after(self, carried: _Block | None) -> _Block:
        """Put the rest of the previous block in front of this one."""
        import numpy as np

        if carried is None:
            return self
        return _Block(carried.at, np.concatenate([carried.samples, self.samples]))

    def settle(self, found: list[Segment]) -> tuple[list[Segment], _Block | None]:
        """Return final sentences, and the audio to hear again, as words near a cut are misheard."""
        until = self.at + len(self.samples) / SAMPLE_RATE
        final = [sentence for sentence in found if sentence.end <= until - HEARD_AGAIN_S]
        unsure = found[len(final) :]
        if not unsure or until - unsure[0].start > LONGEST_CARRY_S:
            return found, None
        start = max(final[-1].end if final else self.at, unsure[0].start - LEAD_IN_S)
        keep_from = max(0, int((start - self.at) * SAMPLE_RATE))
        return final, _Block(self.at + keep_from / SAMPLE_RATE, self.samples[keep_from:])
