"""The services of models that a user may choose among: keys found, local servers, what works."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from vr_kernel.errors import Code, VrError

if TYPE_CHECKING:
    from vr_kernel.generation import Role
    from vr_kernel.kernel import Kernel
    from vr_kernel.models.models import LanguageModels
    from vr_kernel.models.roles import Roles

SERVER_S = 5.0
"""Longest wait for a provider that looks for its server, the import of a library included."""
OFFER_S = 20.0
"""Longest wait for the list of a service."""
USES: Mapping[str, tuple[Role, frozenset[str]]] = {
    "answers": ("default", frozenset()),
    "pictures": ("vision", frozenset({"image"})),
    "films": ("vision", frozenset({"video"})),
}
"""Uses of models, each with its role and the media that a model must take."""


@dataclass(frozen=True, slots=True)
class ModelService:
    """A provider of models as a user may choose it.

    Args:
        name: in configuration.
        address: the base URL; empty where the user has to name it.
        variable: the environment variable of its key; empty for a service without keys.
        found: variables of the environment by which it is known, while the user has not answered
            whether they are meant for this program.
        ready: whether all that it needs is configured.
        used: whether requests may go there.
        local: whether it is on this machine.
        declined: whether the user declined it.
        model: the model that it would ask now; empty for none.
        model_setting: the setting that names its model, such as `plugins.models.ollama_model`.
        address_setting: the setting that holds its address, where it is not the usual one.
        problem: why its configuration cannot be used, and what to do; empty for none.
    """

    name: str
    address: str = ""
    variable: str = ""
    found: tuple[str, ...] = ()
    ready: bool = False
    used: bool = False
    local: bool = False
    declined: bool = False
    model: str = ""
    model_setting: str = ""
    address_setting: str = ""
    problem: str = ""


def model_services(kernel: Kernel) -> list[ModelService]:
    """All that are installed, in the order in which they are asked."""
    return list(_services(_roles(kernel)))


async def running_servers(kernel: Kernel) -> dict[str, list[str]]:
    """The models that servers on this machine have for answers, by name; all are asked at once."""
    roles = _roles(kernel)
    local = [each for each in _services(roles) if each.local]
    offers = await asyncio.gather(*(_served(roles, each) for each in local))
    return {each.name: models for each, models in zip(local, offers, strict=True) if models}


async def offered_models(kernel: Kernel, name: str) -> list[str]:
    """The models that a provider offers to the key that is configured; costs nothing.

    Raises:
        VrError: AUTH when it refuses the key; UNSUPPORTED when it cannot say; UNAVAILABLE.
    """
    roles = _roles(kernel)
    provider = roles.provider(name)
    if (list_models := getattr(provider, "list_models", None)) is None:
        raise VrError(f"{name} does not say which models it offers.", Code.UNSUPPORTED)
    try:
        async with asyncio.timeout(OFFER_S):
            with roles.contained(name):
                provider.check()
                return list(await list_models())
    except TimeoutError:
        raise VrError(f"{name} gave no answer in {OFFER_S:g} s.", Code.UNAVAILABLE) from None


async def working_models(kernel: Kernel) -> dict[str, list[str]]:
    """The models that would be asked now for each of `USES`, and the embedder as `vectors`."""
    roles = _roles(kernel)
    with suppress(VrError):
        await kernel.services.models.described("vision")
    found: dict[str, list[str]] = {use: [] for use in (*USES, "vectors")}
    for use, (role, kinds) in USES.items():
        with suppress(VrError):
            found[use] = [each.name for each in roles.models(role, kinds)]
    with suppress(VrError):
        found["vectors"] = [kernel.services.vectors.embedder_id]
    return found


def _roles(kernel: Kernel) -> Roles:
    return cast("LanguageModels", kernel.services.models).roles


def _services(roles: Roles) -> Iterator[ModelService]:
    declined = roles.configuration.current.declined
    for name in roles.providers:
        with suppress(VrError):  # a provider that fails is none to choose; its log says why
            access, agreement = roles.consent.access(name), roles.consent.of(name)
            model = "" if access.problem else _main_model(roles, name)
            section = f"plugins.{roles.plugin_of(name)}"
            yield ModelService(
                name=name,
                address=access.address,
                variable=access.variable,
                found=agreement.variables,
                ready=access.ready,
                used=agreement.given,
                local=access.local,
                declined=name in declined,
                model=model,
                model_setting=f"{section}.{access.model_setting}" if access.model_setting else "",
                address_setting=f"{section}.{it}" if (it := access.address_setting) else "",
                problem=access.problem.told if access.problem else "",
            )


def _main_model(roles: Roles, name: str) -> str:
    with roles.contained(name):
        return roles.provider(name).model_for("default") or ""


async def _served(roles: Roles, service: ModelService) -> list[str]:
    """The models of the server of a provider; empty when none answers in time."""
    provider = roles.provider(service.name)
    if (look := getattr(provider, "serving", None)) is None:
        return []
    with suppress(VrError, TimeoutError):
        async with asyncio.timeout(SERVER_S):
            with roles.contained(service.name):
                return [name for name in await look() or () if _answers_here(provider, name)]
    return []


def _answers_here(provider: object, model: str) -> bool:
    """True for a model that answers, and is not passed on to a service elsewhere."""
    info_of = getattr(provider, "info", None)
    info = None if info_of is None else info_of(model)
    return info is None or not (info.embeds or info.remote)
