"""Transcripts by captions that exist, else by speech recognition; computed once."""

from __future__ import annotations

from vr_kernel import Call, Code, Services, VrError, cache_key

from vr_plugin_video.captions.sidecars import find_sidecar, read_sidecar, sidecar_languages
from vr_plugin_video.captions.subtitles import read_embedded, two_letters
from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.media.info import MediaInfo
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.speech.recognition import SpeechRecognizer
from vr_plugin_video.speech.speech_models import SpeechModel, find_model
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window, format_time
from vr_plugin_video.work import Percent

NOBODY_LISTENS = frozenset({"EXTRA_MISSING", "MODEL_MISSING", "LANGUAGE_UNSUPPORTED", "NO_WORDS"})
"""Error categories that mean that speech cannot be recognised here."""
VERSION = 1
"""Raised when the same audio would give another transcript."""


class Listener:
    """Transcribes one kernel's videos, and keeps the speech model in memory after its first use."""

    def __init__(self, services: Services, settings: VideoSettings) -> None:
        self._services = services
        self._settings = settings
        self._recognizer: SpeechRecognizer | None = None

    async def identity(self, task: VideoTask, language: str) -> str:
        """Name everything besides the file that a transcript depends on; reads no media."""
        if task.source.at_youtube:
            return f"{VERSION}|youtube"

        def find() -> str:
            sidecar = find_sidecar(task.services, task.source.path, language)
            captions = sidecar.identity if sidecar else ""
            try:
                return f"{VERSION}|{captions}|{self._model(language).identity}"
            except VrError as error:
                return f"{VERSION}|{captions}|{error.category}"

        return await task.work.in_thread(find)

    async def transcript(
        self, task: VideoTask, language: str, percent: Percent
    ) -> tuple[Transcript, bool]:
        """Return the transcript of the task's window, and True if it came from the cache.

        Raises:
            VrError: UNSUPPORTED without captions and sound; what `find_model` raises; NOT_FOUND,
                category CAPTIONS_MISSING, naming the languages of the existing captions, when there
                is nothing else; at YouTube, as `YouTube.captions`.
        """
        if task.source.at_youtube:
            return await self._at_youtube(task, language), False
        media, (start, end) = await task.media(), await task.span()
        found = await self._captions(task, language)
        if found is not None:
            return found.between(start, end), False
        try:
            if not media.has_audio:
                raise no_words()
            return await self._spoken(task, language, percent)
        except VrError as error:
            others = await self._languages(task, media) if language else []
            if others and error.category in NOBODY_LISTENS:
                raise _not_in(language, others, error) from error
            raise

    async def known(self, task: VideoTask, language: str) -> Transcript | None:
        """The transcript that exists already; never listens."""
        from vr_plugin_video.speech.model_words import known_words

        return await self._known(task, language) or await known_words(task, language)

    async def _known(self, task: VideoTask, language: str) -> Transcript | None:
        if task.source.at_youtube:
            try:
                return await self._at_youtube(task, language)
            except VrError:
                return None
        found = await self._captions(task, language)
        if found is None:
            try:
                model = await task.work.in_thread(self._model, language)
            except VrError:
                return None
            found = await self._heard(task, model, language)
        return found and found.between(*await task.span())

    def close(self) -> None:
        """Release the speech model."""
        self._recognizer = None

    async def _at_youtube(self, task: VideoTask, language: str) -> Transcript:
        found = await task.youtube.captions(task.source.video_id, language)
        return found.between(*await task.span())

    async def _captions(self, task: VideoTask, language: str) -> Transcript | None:
        media = await task.media()
        sidecar = await task.work.in_thread(find_sidecar, task.services, task.source.path, language)
        found = await task.work.in_thread(read_sidecar, sidecar) if sidecar else None
        if found is None and media.subtitles:
            found = await task.work.run(
                read_embedded, task.source.file, media.subtitles, language, task.work.check
            )
        return found

    async def _languages(self, task: VideoTask, media: MediaInfo) -> list[str]:
        """The languages of the captions in the file and beside it."""
        beside = await task.work.in_thread(sidecar_languages, task.source.path)
        inside = {two_letters(stream.language) for stream in media.subtitles}
        return sorted((beside | inside) - {""})

    async def _heard(self, task: VideoTask, model: SpeechModel, language: str) -> Transcript | None:
        """Return speech that was recognised before, in the whole video or in the same window."""
        whole = self._key(task, Window(), model, language)
        for known in dict.fromkeys((whole, self._key(task, task.window, model, language))):
            kept = await task.services.cache.model(known, Transcript).get()
            if kept is not None:
                return kept
        return None

    async def _spoken(
        self, task: VideoTask, language: str, percent: Percent
    ) -> tuple[Transcript, bool]:
        model = await task.work.in_thread(self._model, language)
        start, end = await task.span()
        key = self._key(task, task.window, model, language)
        if not task.use_cache:
            return await self._recognize(task, model, language, percent), False
        heard = await self._heard(task, model, language)
        if heard is not None:
            return heard.between(start, end), True

        cached = True

        async def produce(shared: Call) -> Transcript:
            nonlocal cached
            cached = False
            async with task.shared_by(shared) as own:
                made = await self._recognize(own, model, language, percent)
            place = shared.services.cache.model(key, Transcript)
            video_id = task.source.video_id
            await place.put(made, content_id=video_id, tool="speech", model=model.name)
            shared.skip_cache()  # it is cached already, however the call ends
            return made

        made = await task.work.call.once(
            key, Transcript, produce, content_id=task.source.video_id, looked=True
        )
        return made, cached

    async def _recognize(
        self, task: VideoTask, model: SpeechModel, language: str, percent: Percent
    ) -> Transcript:
        report = task.work.stage(*percent)
        start, end = await task.span()

        def heard(seconds: float) -> None:
            share = (seconds - start) / max(end - start, 0.001)
            report(share, f"Listening: {format_time(seconds)} of {format_time(end)}")

        def recognize() -> Transcript:
            report(0.0, f"Loading the speech model {model.name}")
            recognizer = self._loaded(model)
            return recognizer.transcribe(task.source.file, start, end, language, heard)

        return await task.work.run(recognize)

    def _loaded(self, model: SpeechModel) -> SpeechRecognizer:
        if self._recognizer is None or self._recognizer.model != model:
            self._recognizer = None
            self._recognizer = SpeechRecognizer(model, self._settings.threads)
        return self._recognizer

    def _model(self, language: str) -> SpeechModel:
        return find_model(self._settings.speech_model, self._services.paths.models, language)

    def _key(self, task: VideoTask, window: Window, model: SpeechModel, language: str) -> str:
        return cache_key(
            stage="speech",
            version=VERSION,
            content=task.source.video_id,
            start=window.start,
            end=window.end,
            model=model.identity,
            language=language,
        )


def no_words() -> VrError:
    """The error for a file with neither sound nor captions."""
    return VrError(
        "The file has no sound, and there are no captions in it or beside it.",
        Code.UNSUPPORTED,
        category="NO_WORDS",
        hint="Captions are found beside the video under its name, ending in .srt or .vtt.",
    )


def _not_in(language: str, there: list[str], reason: VrError) -> VrError:
    silent = reason.category == "NO_WORDS"
    why = ", and the file has no sound." if silent else f". {reason.message}"
    how = "" if silent else f" {reason.hint} Or have a model listen: engine='gemini'."
    return VrError(
        f"There are no captions in {language!r}{why}",
        Code.NOT_FOUND,
        category="CAPTIONS_MISSING",
        hint=f"There are: {', '.join(there)}.{how}",
    )
