"""`infra_configure` and `infra_models`: the models that answer, and those that could."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from vr_kernel.call import Call, produced_by
from vr_kernel.config.config import shown
from vr_kernel.config.model_settings import AUTO, Preset
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import Role, ThinkingLevel
from vr_kernel.models.models import LanguageModels
from vr_kernel.tools import CALLS_OUT, IDEMPOTENT, READ_ONLY, WRITES_LOCAL, tool

if TYPE_CHECKING:
    from vr_kernel.models.provided import ProvidedModel
    from vr_kernel.models.provider import ModelProvider

PROBE_S = 20.0
"""Longest wait for one provider."""


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


class ProviderState(BaseModel):
    """A provider of models. `used` says if requests may go there, and `reason` why.

    `problem` says why its configuration cannot be used, and what to do.
    """

    name: str
    address: str
    key_variable: str
    ready: bool
    used: bool
    reason: str
    local: bool
    probe: str = ""
    problem: str = ""


class RoleModel(BaseModel):
    """A model that is asked for some role; prices in US dollars for a million tokens.

    `prices_of` is the date of their list, or says that they are the user's own.
    """

    model: str
    accepts: list[str]
    context: int = 0
    input_usd: float | None = None
    output_usd: float | None = None
    prices_of: str = ""


class ModelsReport(BaseModel):
    """The providers in the order of `auto`, the models of each role, and what is known of those."""

    providers: list[ProviderState]
    roles: dict[str, list[str]]
    models: list[RoleModel]
    presets: dict[str, str]
    local_only: bool = False


@tool(
    effects=READ_ONLY | IDEMPOTENT | CALLS_OUT,
    aliases=("list_providers", "show_hierarchy", "show_settings"),
)
async def infra_models(
    call: Call, probe: Annotated[bool, Field(description="Ask each provider")] = False
) -> ModelsReport:
    """Show providers of language models, keys, roles, prices."""
    _only_owner(call)
    models = produced_by(call).context.models
    providers = [_provider(models, name) for name in _names(models)]
    serving = {role: _serving(models, role, call) for role in get_args(Role)}
    known = {each.name: each for found in serving.values() for each in found}
    if probe:
        asked = [each for each in providers if each.ready and each.used]
        said = await asyncio.gather(*(_probe(models, each.name, [*known]) for each in asked))
        for each, answer in zip(asked, said, strict=True):
            each.probe = answer
    return ModelsReport(
        providers=providers,
        roles={role: [each.name for each in found] for role, found in serving.items()},
        models=[_model(each) for each in known.values()],
        presets=models.roles.presets("default"),
        local_only=models.roles.configuration.current.local_only,
    )


def _names(models: LanguageModels) -> list[str]:
    walked = list(models.roles.hierarchy)
    return walked + [name for name in models.roles.providers if name not in walked]


def _provider(models: LanguageModels, name: str) -> ProviderState:
    agreement = models.roles.consent.of(name)
    access = models.roles.consent.access(name)
    return ProviderState(
        name=name,
        address=access.address,
        key_variable=access.variable,
        ready=access.ready,
        used=agreement.given and access.ready,
        reason=agreement.reason if access.ready or not agreement.given else "not configured",
        local=access.local,
        problem=access.problem.told if access.problem else "",
    )


def _serving(models: LanguageModels, role: Role, call: Call) -> list[ProvidedModel]:
    """The models of a role; a remark says why there are none, unless a key is all that lacks."""
    try:
        return models.roles.models(role)
    except VrError as error:
        if error.code is not Code.AUTH and role != "embedding" and error.told not in call.notes:
            call.note(error.told)
        return []


def _model(model: ProvidedModel) -> RoleModel:
    known, price = model.known(), model.price(model.id)
    return RoleModel(
        model=model.name,
        accepts=sorted(known.accepts),
        context=known.context,
        input_usd=None if price is None else price.input,
        output_usd=None if price is None else price.output,
        prices_of="" if price is None else model.price_list(model.id),
    )


async def _probe(models: LanguageModels, name: str, asked: Sequence[str]) -> str:
    """Ask a provider: it says how many models it offers, or why it does not answer.

    Args:
        models: the access to it.
        name: of the provider.
        asked: models of roles, its own among them: it may not offer those.
    """
    own = [model.removeprefix(f"{name}/") for model in asked if model.startswith(f"{name}/")]
    try:
        async with asyncio.timeout(PROBE_S):
            return await _asked(models, name, own)
    except TimeoutError:
        return f"no answer within {PROBE_S:g} s"
    except VrError as error:
        return error.told


def _offer(offered: Sequence[str], asked: Sequence[str]) -> str:
    """The offer of a service in words, and the models that it is asked for and does not offer."""
    count = f"answers; offers {len(offered)} model{'s' * (len(offered) != 1)}"
    there = {name.removesuffix(":latest") for name in offered}
    missing = [name for name in asked if name.removesuffix(":latest") not in there]
    if not offered or not missing:
        return count
    return f"{count}, but not {', '.join(missing)}. {did_you_mean(missing[0], offered)}".strip()


async def _asked(models: LanguageModels, name: str, own: Sequence[str]) -> str:
    provider: ModelProvider = models.roles.provider(name)
    if list_models := getattr(provider, "list_models", None):
        with models.roles.contained(name):
            return _offer(await list_models(), own)
    chosen = provider.model_for("fast") or provider.model_for("default")
    reply = await models.generate("Answer with: OK", model=f"{name}/{chosen}")
    return f"answers, as {reply.model}"
