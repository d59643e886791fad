"""Routes each request to its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.gemini import background, content, errors
from vr_testing.gemini.background import Background, Work
from vr_testing.gemini.behaviour import Behaviour
from vr_testing.gemini.bill import THINKING_TOKENS, audio_tokens, google_prices, part_tokens
from vr_testing.gemini.caches import Caches
from vr_testing.gemini.calls import check_calls
from vr_testing.gemini.errors import ApiError, as_error
from vr_testing.gemini.files import GRANULARITY, Files, StoredFile
from vr_testing.gemini.request import (
    RecordedRequest,
    content_parts,
    is_upload,
    look_up,
    read_request,
)
from vr_testing.service.answer import Answer
from vr_testing.service.bill import Bill, json_tokens, text_tokens
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.framing import first_half
from vr_testing.service.reply import HttpReply, as_events, as_json
from vr_testing.service.script import Script
from vr_testing.service.vectors import vector

Data = Iterable[bytes]
_UPLOADS = frozenset({"files.upload", "files.query", "files.cancel"})
"""Actions without a key: the URL of an upload is itself a secret, so the SDK sends none."""


class Routes:
    """Answers the requests of one fake service, and holds its state between them."""

    def __init__(self, behaviour: Behaviour, script: Script) -> None:
        self._behaviour = behaviour
        self._script = script
        self.bill = Bill(google_prices().of)
        self.files = Files(behaviour)
        self.caches = Caches(behaviour, self.files)
        self.interactions = Background(behaviour, "fake_interaction_")
        self._table: dict[str, Callable[[RecordedRequest], HttpReply]] = {
            "generateContent": self._generate,
            "streamGenerateContent": self._generate,
            "countTokens": self._count,
            "models.list": self._models,
            "embedContent": self._embed,
            "batchEmbedContents": self._embed,
            "interactions.create": self._begin_interaction,
            "interactions.get": lambda r: self._interaction(self.interactions.find_for(r)),
            "interactions.cancel": self._cancel_interaction,
            "files.create": self._begin_upload,
            "files.query": lambda r: _upload_state(self.files.uploading(r)),
            "files.get": lambda r: as_json(self.files.poll(r)),
            "files.list": lambda r: as_json({"files": self.files.listed(r)}),
            "files.delete": lambda r: as_json(self.files.delete(r)),
            "cachedContents.create": self._create_cache,
            "cachedContents.get": lambda r: as_json(self.caches.get(r.name, r.api_key).shown),
            "cachedContents.patch": lambda r: as_json(self.caches.prolong(r).shown),
            "cachedContents.list": lambda r: as_json({"cachedContents": self.caches.listed(r)}),
            "cachedContents.delete": lambda r: as_json(self.caches.delete(r)),
        }

    def answer(self, request: RecordedRequest, fault: ServiceFault | None, data: Data) -> HttpReply:
        """The answer to a request; `data` are the bytes of an upload."""
        try:
            self._check_key(request)
            if fault is not None and fault.error is not None:
                raise fault.error(request)
            if request.action == "files.upload":
                return _upload_state(self.files.receive(request, data))
            if request.action not in self._table:
                raise ApiError(404)
            if fault is not None and fault.alter is not None:
                return self._generate(request, fault.alter)
            return self._table[request.action](request)
        except ServiceError as error:
            return as_error(error)

    def keeps_body(self, method: str, target: str, headers: Mapping[str, str]) -> bool:
        """True but for the bytes of an upload."""
        return not is_upload(method, target, headers)

    def read(
        self, method: str, target: str, headers: Mapping[str, str], raw: bytes | None, at: float
    ) -> RecordedRequest:
        """Parse a request; see `read_request`."""
        return read_request(method, target, headers, raw, at)

    def abandon(self, request: RecordedRequest, data: Iterator[bytes]) -> None:
        """Take the first half of an upload whose connection is reset."""
        if request.action == "files.upload":
            self.files.receive(request, first_half(data, request.size), cut=True)

    def failure(self, message: str) -> HttpReply:
        """500, with what the script said."""
        return as_error(ApiError(500, message))

    def _models(self, _request: RecordedRequest) -> HttpReply:
        names = sorted(self._behaviour.models or ())
        return as_json({"models": [{"name": f"models/{name}"} for name in names]})

    def _check_key(self, request: RecordedRequest) -> None:
        keys = self._behaviour.keys
        if keys is None or request.action in _UPLOADS:
            return
        if not request.api_key:
            raise ApiError(403, errors.NO_KEY_MESSAGE)
        if request.api_key not in keys:
            raise errors.invalid_key()

    def _check_model(self, request: RecordedRequest) -> None:
        models = self._behaviour.models
        if models is not None and request.model not in models:
            raise errors.unknown_model(request.model, request.version, request.action)

    def _generated(
        self, request: RecordedRequest, alter: Callable[[Answer], Answer] | None = None
    ) -> tuple[Answer, Usage]:
        """Generate an answer and put it on the bill."""
        self._check_model(request)
        check_calls(request, signed=self._behaviour.signs_calls)
        self.files.check(request)
        cached, cached_audio = self.caches.tokens(request), self.caches.audio_tokens(request)
        answer = content.within_limit(self._script.answer_to(request), request)
        answer = answer if alter is None else alter(answer)
        thinking = text_tokens(answer.thought) or THINKING_TOKENS.get(request.thinking_level, 0)
        thinking = int(min(thinking, content.room_for_thinking(answer, request)))
        usage = Usage(
            calls=1,
            input_tokens=self._prompt_tokens(request) + cached,
            output_tokens=text_tokens(answer.text)
            + sum(json_tokens(call.shown) for call in answer.calls),
            thinking_tokens=0 if answer.blocked else thinking,
            cached_tokens=cached,
            audio_tokens=audio_tokens(request.parts, self.files.size_of),
            cached_audio_tokens=cached_audio,
            searches=len(content.searches_of(answer, request)),
        )
        self.bill.add(usage, request.model)
        return answer, usage

    def _prompt_tokens(self, request: RecordedRequest) -> int:
        said = part_tokens(request.parts, self.files.size_of) + text_tokens(request.system)
        return said + json_tokens(request.functions)

    def _generate(
        self, request: RecordedRequest, alter: Callable[[Answer], Answer] | None = None
    ) -> HttpReply:
        answer, usage = self._generated(request, alter)
        signs = self._behaviour.signs_calls
        if request.action == "streamGenerateContent":
            return as_events(content.pieces(answer, request, usage, signs_calls=signs))
        return as_json(content.whole(answer, request, usage, signs_calls=signs))

    def _count(self, request: RecordedRequest) -> HttpReply:
        self._check_model(request)
        self.files.check(request)
        cached = self.caches.tokens(request)
        return as_json({"totalTokens": self._prompt_tokens(request) + cached})

    def _embed(self, request: RecordedRequest) -> HttpReply:
        self._check_model(request)
        single = request.action == "embedContent"
        asked = [request.body] if single else look_up(request.body, "requests") or []
        vectors = [{"values": self._vector(each)} for each in asked]
        tokens = self._prompt_tokens(request)
        self.bill.add(Usage(calls=1, input_tokens=tokens), request.model)
        shown: dict[str, Any] = {"embedding": vectors[0]} if single else {"embeddings": vectors}
        return as_json({**shown, "usageMetadata": {"promptTokenCount": tokens}})

    def _vector(self, asked: Any) -> list[float]:
        parts = content_parts(look_up(asked, "content"))
        text = "\n".join(str(part.get("text", part)) for part in parts)
        dimension = look_up(asked, "outputDimensionality") or look_up(
            look_up(asked, "embedContentConfig"), "outputDimensionality"
        )
        return vector(text, int(dimension or self._behaviour.dimension))

    def _create_cache(self, request: RecordedRequest) -> HttpReply:
        cache = self.caches.create(request)
        self.bill.add(Usage(calls=1, input_tokens=cache.tokens), request.model)
        return as_json(cache.shown)

    def _begin_interaction(self, request: RecordedRequest) -> HttpReply:
        told = background.told_of(request)
        if previous := told.get("previous_interaction_id"):
            self.interactions.require_ended(previous, request.api_key)

        def finish() -> dict[str, Any]:
            answer, usage = self._generated(request)
            return background.interaction_outcome(answer, usage, self._behaviour)

        work = self.interactions.begin(told, finish, request.api_key)
        in_background = bool(request.body.get("background"))
        outcome = None if in_background else self.interactions.finish(work)
        return as_json(background.interaction(work, outcome))

    def _interaction(self, work: Work) -> HttpReply:
        return as_json(background.interaction(work, self.interactions.poll(work)))

    def _cancel_interaction(self, request: RecordedRequest) -> HttpReply:
        work = self.interactions.find_for(request)
        return as_json(background.interaction(work, self.interactions.cancel(work)))

    def _begin_upload(self, request: RecordedRequest) -> HttpReply:
        file = self.files.begin(request)
        address = f"http://{request.headers['host']}{request.path}?upload_id={file.id}"
        return as_json(
            {},
            X_Goog_Upload_URL=f"{address}&upload_protocol=resumable",
            X_Goog_Upload_Status="active",
            X_Goog_Upload_Chunk_Granularity=str(GRANULARITY),
        )


def _upload_state(file: StoredFile) -> HttpReply:
    if file.whole:
        return as_json({"file": file.shown}, X_Goog_Upload_Status="final")
    received = str(file.received)
    return as_json({}, X_Goog_Upload_Status="active", X_Goog_Upload_Size_Received=received)
