"""`infra_configure`: which models answer, and how, from now on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from vr_kernel.call import Call
from vr_kernel.config import shown
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import ThinkingLevel
from vr_kernel.models import Models
from vr_kernel.settings import Preset
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


@tool(
    effects=WRITES_LOCAL | IDEMPOTENT,
    words="use a different model; switch to a cheaper or faster one; better quality, whatever it"
    " costs; think harder; less thinking; which model answers; change the settings; raise the"
    " temperature; more creative or more predictable answers; choose the budget preset; take the"
    " best model from now on; use Gemini Flash or Pro; save money from here on; the answers are"
    " too shallow or too slow; quick and rough is fine from now on; more effort and longer"
    " reasoning; make the answers steadier; reply with less randomness; which settings are in"
    " force; set the thinking level to high; go back to the defaults; use the strong preset; I"
    " prefer accuracy over speed; try another model; which model do you run on; what are you"
    " powered by; use the newest model; I am on a tight budget, choose accordingly; lower the"
    " reasoning effort; set it back to how it was; more careful answers for the rest of the day;"
    " change how thoroughly you watch videos; is Flash or Pro active; make it deterministic;"
    " which language model answers me; is it a small or a large model; which LLM is used;"
    " default settings; upgrade to the pro model; economy mode; randomness; raise quality",
)
async def infra_configure(
    call: Call,
    preset: Preset | None = None,
    model: Annotated[str | None, Field(min_length=1, max_length=200)] = None,
    thinking_level: ThinkingLevel | None = None,
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None,
) -> Configuration:
    """Show or change models, thinking and temperature for later calls."""
    models = call.services.models
    changes: dict[str, Any] = {}
    if preset is not None:
        # A preset means its own models: what was set beside it would hide them.
        changes |= {"preset": preset, "gemini_model": "", "gemini_flash_model": "", "default": []}
    if model is not None:
        changes["default"] = [_known(models, model)]
    if thinking_level is not None:
        changes["thinking_level"] = thinking_level
    if temperature is not None:
        changes["temperature"] = temperature
    if changes:
        _only_owner(call)
        models.roles.configuration.change(**changes)
        call.note("This holds until the program ends; [models] of config.toml is for good.")
    return _shown(models)


def _only_owner(call: Call) -> None:
    """Raises: VrError: NOT_ALLOWED, for a client whose token is another's."""
    if call.principal != call.services.owner:
        raise VrError(
            "Only the owner of this server may change its settings.",
            Code.NOT_ALLOWED,
            hint="Without arguments infra_configure shows them.",
        )


def _known(models: Models, model: str) -> str:
    """The full name of a model that its provider knows, or that is named in full.

    Raises:
        VrError: INVALID_INPUT, category MODEL_UNKNOWN, naming the nearest.
    """
    candidate = models.roles.named(model)
    known = [info.name for info in candidate.provider.models()]
    if "/" in model or candidate.model in known:
        return candidate.name
    raise VrError(
        f"No model {model!r} is known.",
        Code.INVALID_INPUT,
        category="MODEL_UNKNOWN",
        hint=f"{did_you_mean(model, known)}Known: {', '.join(known)}. To use one that is newer"
        f" than this release, give its provider as well: {candidate.name!r}.",
    )


def _shown(models: Models) -> Configuration:
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
