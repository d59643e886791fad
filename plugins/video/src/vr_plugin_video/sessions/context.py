"""Context caches of sessions: the service reads the video once, and each turn costs less."""

from __future__ import annotations

from vr_kernel import Code, Media, Services, VrError

from vr_plugin_video.analyses.prompt import SYSTEM
from vr_plugin_video.analyses.vision_models import ROLE

GEMINI = "gemini/"
CACHED = "cached"


def watching_models(services: Services) -> list[str]:
    """The models that may be asked about a video, as `provider/model`, best first.

    Those that do not watch are given its pictures and words.

    Raises:
        VrError: AUTH when a key is missing, else UNAVAILABLE; category ENGINE_UNAVAILABLE.
    """
    try:
        names: list[str] = services.models.identity(ROLE)["models"]
    except VrError as error:
        raise VrError(
            f"A session needs a language model: {error.message}",
            error.code if error.code is Code.AUTH else Code.UNAVAILABLE,
            category="ENGINE_UNAVAILABLE",
            hint=f"{error.hint} video_analyze works without a key.".strip(),
        ) from None
    return names


def gemini_model(services: Services) -> str:
    """The Gemini model that is asked first; empty when another provider's is.

    Raises:
        VrError: as `watching_models`.
    """
    first = watching_models(services)[0]
    return first.removeprefix(GEMINI) if first.startswith(GEMINI) else ""


async def context_of(services: Services, media: Media) -> str:
    """Name of a context cache of the video with its whole time to live, made when needed.

    It holds the system instruction, too. Empty where no cache can be made; the kernel remembers for
    a day what the service refused to cache.
    """
    model = gemini_model(services)
    if not model or media.file is None:
        return ""
    gemini = services.gemini
    name = await gemini.cached_content(model, media, system=SYSTEM)
    if name and not await _is_renewed(services, name):
        name = await gemini.cached_content(model, media, system=SYSTEM)
    return name or ""


def cache_state(services: Services, media: Media | None, name: str) -> str:
    """Return `cached`, or the reason why a video is not cached; None is watched by no model."""
    if name:
        return CACHED
    if media is None or not gemini_model(services):
        return "The model that is asked keeps no context cache."
    if media.file is None:
        return (
            "Gemini cannot cache a YouTube address; download=true downloads the video, and each"
            " turn costs less."
        )
    return "Gemini did not cache it: it may be too short, or the service refused or was not there."


async def _is_renewed(services: Services, name: str) -> bool:
    """Renew a context cache; also True without an answer, as the turn will fail then."""
    try:
        return await services.gemini.refresh(name)
    except VrError:
        return True
