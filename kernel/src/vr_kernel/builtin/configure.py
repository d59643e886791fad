"""`infra_configure`: which models answer, and how, from now on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from vr_kernel.call import Call, produced_by
from vr_kernel.config.config import shown
from vr_kernel.config.model_settings import Preset
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import Role, ThinkingLevel
from vr_kernel.models.models import LanguageModels
from vr_kernel.models.roles import AUTO
from vr_kernel.tools import IDEMPOTENT, WRITES_LOCAL, tool


class PresetModels(BaseModel):
    """The models of a preset."""

    default_model: str
    flash_model: str
    embedding_model: str


class Configuration(BaseModel):
    """The settings of models as they are now; `active_models` are those that would answer."""

    current_config: dict[str, Any]
    active_preset: Preset
    available_presets: dict[str, PresetModels]
    active_models: dict[str, list[str]]


@tool(effects=WRITES_LOCAL | IDEMPOTENT)
async def infra_configure(
    call: Call,
    preset: Preset | None = None,
    model: Annotated[str | None, Field(min_length=1, max_length=200)] = None,
    thinking_level: ThinkingLevel | None = None,
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None,
) -> Configuration:
    """Show or change models, thinking and temperature for later calls."""
    _only_owner(call)
    models = produced_by(call).context.models
    changes: dict[str, Any] = {}
    if preset is not None:
        # A preset brings its own models; models set before would override them.
        changes |= {"preset": preset, "gemini_model": "", "gemini_flash_model": "", "default": []}
    if model is not None:
        changes |= {"default": [_known(models, model)], **_small_work(models)}
    if thinking_level is not None:
        changes["thinking_level"] = thinking_level
    if temperature is not None:
        changes["temperature"] = temperature
    if changes:
        models.roles.configuration.change(**changes)
        call.note("This holds until the program ends; to keep it, change [models] in config.toml.")
    return _shown(models)


def _small_work(models: LanguageModels) -> dict[str, Any]:
    """Return the settings that keep the models for small work when the default changes."""
    settings = models.roles.configuration.current
    roles: tuple[Role, ...] = ("fast", "recursive")
    return {role: settings.models_of(role) or [AUTO] for role in roles}


def _only_owner(call: Call) -> None:
    """Refuse a client that is not the owner: raises `VrError` with NOT_ALLOWED."""
    if not call.services.identity.is_owner:
        raise VrError(
            "The settings of this server are its owner's to see and to change.",
            Code.NOT_ALLOWED,
            hint="Ask the owner for another model; the tools answer with those that are set.",
        )


def _known(models: LanguageModels, model: str) -> str:
    """The full name of a model that answers: known to its provider, or given in full.

    Raises:
        VrError: INVALID_INPUT, category MODEL_UNKNOWN, naming the nearest.
    """
    model = model.strip().removeprefix("models/")
    found = models.roles.named(model)
    known = {info.name: info for info in found.provider.models()}
    info = known.get(found.id)
    whole = "/" in model and all(part.strip() for part in model.split("/"))
    if whole if info is None else not info.embeds:
        return found.name
    answering = [info.name for info in known.values() if not info.embeds]
    raise VrError(
        f"No model {model!r} is known that answers questions.",
        Code.INVALID_INPUT,
        category="MODEL_UNKNOWN",
        hint=f"{did_you_mean(found.id, answering)}Known: {', '.join(answering) or 'none'}."
        " To use one that is newer than this release, give its provider as well:"
        f" '{found.provider.name}/…'.",
    )


def _shown(models: LanguageModels) -> Configuration:
    from vr_kernel.gemini.catalogue import PRESETS

    settings = models.roles.configuration.current
    roles: tuple[Literal["default", "fast", "embedding"], ...] = ("default", "fast", "embedding")
    return Configuration(
        current_config=shown(settings),
        active_preset=settings.preset,
        available_presets={
            name: PresetModels(
                default_model=choice.default,
                flash_model=choice.flash,
                embedding_model=choice.embedding,
            )
            for name, choice in PRESETS.items()
        },
        active_models={role: models.suggested(role) for role in roles},
    )
