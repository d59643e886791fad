"""Makes analyses by the requested engine: each once, then cached and found again."""

from __future__ import annotations

from typing import Protocol

from vr_kernel import Call, Code, Models, VrError

from vr_plugin_video.analyses.analysis import linked
from vr_plugin_video.analyses.local_analyst import LocalAnalyst
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.model_analyst import ModelAnalyst, no_model
from vr_plugin_video.analyses.request import AnalysisRequest
from vr_plugin_video.analyses.vision_models import ROLE
from vr_plugin_video.arguments import EngineChoice
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.sources import Source
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window


class Analyst(Protocol):
    """Makes analyses of one kind."""

    async def key(self, task: VideoTask) -> str:
        """Return the key of the result, which names everything that it depends on."""

    async def analyse(self, task: VideoTask) -> VideoAnalysis:
        """Make the analysis and record it."""

    async def refreshed(self, task: VideoTask, analysis: VideoAnalysis) -> VideoAnalysis | None:
        """Bring a cached analysis up to date; None when it has to be made again."""


async def analysis_of(
    call: Call,
    source: Source,
    window: Window,
    request: AnalysisRequest,
    *,
    engine: EngineChoice = "auto",
    use_cache: bool = True,
) -> VideoAnalysis:
    """The whole analysis of an opened source, from the cache when it was made before.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE, when no model can be reached
            and `engine` demands one; what the engine raises.
    """
    local = call.services.providers.get(LocalEngine)
    analyst = choose_analyst(call, engine, local, request)
    task = local.task(call, source, window, use_cache=use_cache)
    await task.settle()
    analysis = await (_kept(task, analyst) if use_cache else analyst.analyse(task))
    # A cached analysis may come from an equal file in another place.
    here = {"source": source.url, "timestamps": linked(analysis.timestamps, source)}
    return analysis.model_copy(update=here)


def choose_analyst(
    call: Call, engine: EngineChoice, local: LocalEngine, request: AnalysisRequest
) -> Analyst:
    """Return the analyst for an engine; by default a model's, when a model can be reached.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE; INVALID_INPUT for models that are
            configured and do not exist.
    """
    models = call.services.models
    if engine == "local" or (engine == "auto" and not _can_be_asked(models)):
        return LocalAnalyst(local, request)
    if engine != "auto":
        try:
            models.identity(ROLE)
        except VrError as error:
            raise no_model(error) from None
    return ModelAnalyst(local, request)


def _can_be_asked(models: Models) -> bool:
    """True when some model can be asked.

    Raises:
        VrError: INVALID_INPUT for models that are configured and do not exist.
    """
    try:
        return bool(models.names(ROLE))
    except VrError as error:
        if error.code is Code.INVALID_INPUT:
            raise
        return False


async def _kept(task: VideoTask, analyst: Analyst) -> VideoAnalysis:
    """Return the analysis from the cache, or make it once for all concurrent callers."""
    call = task.work.call
    key = await analyst.key(task)

    async def produce(shared: Call) -> VideoAnalysis:
        async with task.shared_by(shared) as making:
            analysis = await analyst.analyse(making)
            if not making.repeatable:
                shared.skip_cache()
            return analysis

    # Only a cached analysis has its records in the journal already; shared work has none yet.
    place = call.services.cache.model(key, VideoAnalysis)
    if (kept := await place.get()) is not None:
        kept = kept.model_copy(update={"cached": True, "usage": None})
        known = await analyst.refreshed(task, kept)
        if known is not None:
            return known
        await place.delete()
    return await call.once(
        key, VideoAnalysis, produce, content_id=task.source.video_id, looked=True
    )
