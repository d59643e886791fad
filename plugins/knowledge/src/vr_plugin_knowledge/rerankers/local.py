"""Cross-encoders that run on this machine: FlashRank and fastembed, each an extra."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vr_kernel import Code, Picture, Services, VrError, extra_missing, texts_of

Scoring = Callable[[str, list[str]], list[float]]
"""Question and texts -> one score per text, in order."""
FLASHRANK_MODEL = "ms-marco-MiniLM-L-12-v2"
FASTEMBED_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
THREADS = 2


class CrossEncoder:
    """A `Reranker` whose model is loaded at first use, and downloaded when it is not there.

    It works in a thread of its own, so that a slow download delays only its own calls.

    Args:
        library: the library, as messages name it; also the name of the extra.
        model: the model, as the library names it.
        load: loads the model.
    """

    def __init__(self, library: str, model: str, load: Callable[[], Scoring]) -> None:
        self.name = f"{library}/{model}"
        self._library = library
        self._load = load
        self._scoring: Scoring | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vr-rerank")

    async def rerank(self, query: str, items: Sequence[str | Picture]) -> list[float]:
        """Score each text, in order; scores have no fixed range.

        Raises:
            VrError: UNAVAILABLE when the library is not installed, or its model is not available.
        """
        loop, texts = asyncio.get_running_loop(), texts_of(self.name, items)
        return await loop.run_in_executor(self._worker, self._score, query, texts)

    async def aclose(self) -> None:
        """Stop after the current work."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _score(self, query: str, texts: list[str]) -> list[float]:
        if self._scoring is None:
            self._scoring = self._loaded()
        return self._scoring(query, texts)

    def _loaded(self) -> Scoring:
        try:
            return self._load()
        except ImportError as error:
            install = f"pip install 'video-research[{self._library}]'"
            raise extra_missing(f"{self._library} is not installed.", install) from error
        # The libraries pass on errors of their downloaders, archives and runtimes.
        except Exception as error:
            raise VrError(
                f"The model {self.name} cannot be loaded: {type(error).__name__}.",
                Code.UNAVAILABLE,
                category="MODEL_UNAVAILABLE",
                hint="Its first use downloads it. Check the network, and reranker_model in"
                " [plugins.knowledge].",
                retryable=True,
            ) from error


def build_flashrank(services: Services) -> CrossEncoder:
    """FlashRank, with its models in the cache folder."""
    model = services.settings.reranker_model or FLASHRANK_MODEL
    folder = services.paths.cache / "flashrank"
    return CrossEncoder("flashrank", model, lambda: _load_flashrank(model, folder))


def build_fastembed(services: Services) -> CrossEncoder:
    """A cross-encoder of fastembed, with its models in the cache folder."""
    model = services.settings.reranker_model or FASTEMBED_MODEL
    folder = services.paths.cache / "fastembed"
    return CrossEncoder("fastembed", model, lambda: _load_fastembed(model, folder))


def _load_flashrank(model: str, folder: Path) -> Scoring:
    from flashrank import Ranker, RerankRequest

    ranker = Ranker(model_name=model, cache_dir=str(folder), log_level="WARNING")

    def score(query: str, texts: list[str]) -> list[float]:
        passages = [{"id": number, "text": text} for number, text in enumerate(texts)]
        found = ranker.rerank(RerankRequest(query=query, passages=passages))
        scores = {entry["id"]: float(entry["score"]) for entry in found}
        return [scores[number] for number in range(len(texts))]

    return score


def _load_fastembed(model: str, folder: Path) -> Scoring:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    encoder = TextCrossEncoder(model_name=model, cache_dir=str(folder), threads=THREADS)
    return lambda query, texts: [float(score) for score in encoder.rerank(query, texts)]
