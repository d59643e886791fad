"""Reads the answer of a model: its text, cost, sources and reason for ending."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.tool_calls import PartsRead
from vr_kernel.generation import Reply, Usage, WebSource

if TYPE_CHECKING:
    from google.genai import types

_WITHHELD = frozenset(
    {
        "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "RECITATION", "SPII", "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "LANGUAGE",
    }
)  # fmt: skip
_CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
_WHOLE = frozenset({"STOP", ""})


class Reading:
    """An answer that arrives in one response or in many."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._texts: list[str] = []
        self._parts = PartsRead()
        self._sources: dict[str, WebSource] = {}
        self._queries: set[str] = set()
        self._finish = ""
        self._blocked = ""
        self._answered_by = model
        self.usage = Usage(calls=1)

    def take(self, response: types.GenerateContentResponse) -> str:
        """Read one response, and return the words that it adds."""
        if response.usage_metadata is not None:
            self.usage = usage_of(response.usage_metadata)
        if response.model_version:
            self._answered_by = response.model_version.removeprefix("models/")
        feedback = response.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self._blocked = str(feedback.block_reason.value)
        candidates = response.candidates or []
        text = self._candidate(candidates[0]) if candidates else ""
        self.usage = self.usage.model_copy(update={"searches": len(self._queries)})
        return text

    def reply(self, *, streamed: bool = False) -> Reply:
        """The whole answer; a streamed one must have ended with STOP.

        Raises:
            VrError: NOT_ALLOWED, TOO_LARGE or UNAVAILABLE, by its reason for ending; with its cost.
        """
        text = "".join(self._texts)
        self._check(text, streamed=streamed)
        return Reply(
            text=text,
            model=self._answered_by,
            usage=self.usage,
            sources=list(self._sources.values()),
            calls=self._parts.calls,
            state=self._parts.state,
        )

    def cut(self) -> VrError:
        """The error of an answer that ended before it was whole."""
        why = f" (it ended with {self._finish})" if self._finish not in _WHOLE else ""
        return VrError(
            f"The answer of {self.model} broke off{why}.",
            Code.UNAVAILABLE,
            category="REPLY_TRUNCATED",
            hint="Try again.",
            retryable=True,
            usage=self.usage,
            detail="".join(self._texts),
        )

    def _candidate(self, candidate: types.Candidate) -> str:
        if candidate.finish_reason is not None:
            self._finish = str(candidate.finish_reason.value)
        if candidate.grounding_metadata is not None:
            self._queries.update(candidate.grounding_metadata.web_search_queries or [])
            for source in sources_of(candidate.grounding_metadata):
                self._sources.setdefault(source.url, source)
        parts = (candidate.content.parts if candidate.content else None) or []
        text = "".join(map(self._parts.take, parts))
        self._texts.append(text)
        return text

    def _check(self, text: str, *, streamed: bool) -> None:
        if self._blocked or self._finish in _WITHHELD:
            raise self._withheld(self._blocked or self._finish)
        if self._finish in _CUT:
            raise VrError(
                f"{self.model} reached the most that it may write.",
                Code.TOO_LARGE,
                category="REPLY_CUT_OFF",
                hint="Ask for less at once, or allow more output tokens.",
                usage=self.usage,
                detail=text,
            )
        if streamed and not self._finish:
            raise self.cut()
        if not text.strip() and not self._parts.calls:
            end = self._finish or "no candidate"
            raise VrError(
                f"{self.model} answered with nothing (it ended with {end}).",
                Code.UNAVAILABLE,
                category="REPLY_EMPTY",
                hint="Try again.",
                retryable=True,
                usage=self.usage,
            )
        if self._finish not in _WHOLE:
            raise self.cut()

    def _withheld(self, reason: str) -> VrError:
        return VrError(
            f"{self.model} withheld its answer ({reason}).",
            Code.NOT_ALLOWED,
            category="SAFETY_BLOCKED",
            hint="Ask in other words, or about other content.",
            usage=self.usage,
        )


def usage_of(metadata: types.GenerateContentResponseUsageMetadata) -> Usage:
    """Read the cost of a response; the tokens that tools put into the prompt count as input."""
    kept_sound = _audio(metadata.cache_tokens_details)
    return Usage(
        calls=1,
        input_tokens=(metadata.prompt_token_count or 0)
        + (metadata.tool_use_prompt_token_count or 0),
        output_tokens=metadata.candidates_token_count or 0,
        thinking_tokens=metadata.thoughts_token_count or 0,
        cached_tokens=metadata.cached_content_token_count or 0,
        audio_tokens=max(0, _audio(metadata.prompt_tokens_details) - kept_sound),
        cached_audio_tokens=kept_sound,
    )


def _audio(details: Iterable[types.ModalityTokenCount] | None) -> int:
    """The tokens of sound among those that are counted by modality."""
    return sum(each.token_count or 0 for each in details or () if each.modality == "AUDIO")


def sources_of(metadata: types.GroundingMetadata) -> Iterable[WebSource]:
    """The pages that ground an answer."""
    for chunk in metadata.grounding_chunks or []:
        if chunk.web is not None and chunk.web.uri:
            yield WebSource(title=chunk.web.title or chunk.web.uri, url=chunk.web.uri)
