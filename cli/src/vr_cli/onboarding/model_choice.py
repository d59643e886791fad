"""Models that can be set up: what was found here, and what the user chose of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vr_kernel import Code, VrError, did_you_mean

if TYPE_CHECKING:
    from vr_kernel import Config, Kernel
    from vr_kernel.models import ModelService

Run = Callable[[Callable[["Kernel"], Coroutine[Any, Any, Any]]], Any]
LOOK_S = 30.0
"""Longest wait for what is asked; those who are asked wait shorter."""
KEY_VARIABLE = "GEMINI_API_KEY"


@dataclass(frozen=True, slots=True)
class FoundModels:
    """The services of models here, the models of running servers, and those that work now."""

    services: Sequence[ModelService] = ()
    servers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    working: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def unasked(self) -> list[ModelService]:
        """The services whose keys were found, and which the user has not been asked about."""
        return [each for each in self.services if each.found and not each.problem]

    @property
    def refused(self) -> list[str]:
        """Remarks on services whose configuration cannot be used."""
        return [it.problem for it in self.services if it.problem]

    @property
    def offered(self) -> list[ModelService]:
        """The running servers of which no model is chosen yet, and which were not declined."""
        running = [each for each in self.services if each.name in self.servers]
        return [each for each in running if not (each.model or each.declined)]

    @property
    def keyed(self) -> list[ModelService]:
        """The services that a key alone makes usable, the best first."""
        return [each for each in self.services if each.variable and each.address]

    @property
    def usable(self) -> list[str]:
        """The services that can be asked now."""
        return [each.name for each in self.services if each.ready and each.used and each.model]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The user's answers about models.

    Args:
        agreed: services whose key from the environment may be used.
        declined: services that are not to be used, nor to be asked about again.
        models: the models of services on this machine, and unusual addresses, by the setting.
        key: of a service; it is kept as the variable `key_variable`.
    """

    agreed: Sequence[str] = ()
    declined: Sequence[str] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    key: str = field(default="", repr=False)
    key_variable: str = KEY_VARIABLE

    @property
    def has_settings(self) -> bool:
        """True when there is something to write to `config.toml`."""
        return bool(self.agreed or self.declined or self.models)


def find_models(config: Config) -> FoundModels:
    """Load the plugins, ask the servers of this machine, and see what works.

    Nothing is asked that costs; a plugin that fails has no models.
    """
    from vr_kernel.models import model_services, running_servers, working_models

    with _looking(config) as (kernel, run):
        servers, working = run(running_servers), run(working_models)
        return FoundModels(model_services(kernel), servers, working)


def try_key(service: str, config: Config) -> int:
    """The number of models that a service offers to the key that is configured.

    Raises:
        VrError: AUTH when it refuses the key; else why the key could not be tried.
    """
    from vr_kernel.models import offered_models

    with _looking(config) as (_, run):
        return len(run(lambda kernel: offered_models(kernel, service)))


@contextmanager
def _looking(config: Config) -> Iterator[tuple[Kernel, Run]]:
    """A kernel, and what runs work with it; what plugins print or leave behind is no matter."""
    from vr_kernel import Kernel

    from vr_cli.doctor.captured import captured
    from vr_cli.doctor.check_runner import loop_aside, wait_for
    from vr_cli.doctor.report import CLOSE_S
    from vr_cli.process.streams import diverted_stdout

    with captured(2), diverted_stdout(), loop_aside() as loop:
        kernel = Kernel(config, roots=[Path.cwd()], retry=True)
        try:
            yield kernel, lambda work: wait_for(loop, work(kernel), LOOK_S)
        finally:
            with suppress(Exception):
                wait_for(loop, kernel.aclose(), CLOSE_S)


def service_named(name: str, services: Sequence[ModelService]) -> ModelService:
    """The service of a name.

    Raises:
        VrError: INVALID_INPUT, naming the nearest.
    """
    for each in services:
        if each.name == name:
            return each
    names = [each.name for each in services]
    raise VrError(
        f"No service of models is called {name!r}.",
        Code.INVALID_INPUT,
        hint=f"{did_you_mean(name, names)}Known: {', '.join(names) or 'none'}.",
    )


def model_named(name: str, service: ModelService, offered: Sequence[str]) -> str:
    """The model of a server, if it has it.

    Raises:
        VrError: INVALID_INPUT, naming the nearest.
    """
    if name in offered:
        return name
    raise VrError(
        f"{service.name} has no model {name!r}.",
        Code.INVALID_INPUT,
        hint=f"{did_you_mean(name, offered)}It has: {', '.join(offered)}.",
    )


def choice_of(names: Sequence[str], declined: Sequence[str], found: FoundModels) -> ModelChoice:
    """The choice of services by name; of one on this machine also as `name/model`.

    Raises:
        VrError: INVALID_INPUT for an unknown name, or one that is declined as well; AUTH when
            there is no key of it; UNAVAILABLE when a server does not answer, or has no model.
    """
    agreed: list[str] = []
    models: dict[str, str] = {}
    for each in declined:
        if service_named(each, found.services).name in {name.partition("/")[0] for name in names}:
            raise VrError(
                f"{each} is both used and declined.", Code.INVALID_INPUT, hint="Name it once."
            )
    for each in names:
        name, _, model = each.partition("/")
        service = service_named(name, found.services)
        if service.local and service.model_setting:
            offered = found.servers.get(name, ())
            if not offered:
                raise _silent(service)
            models |= settings_of(service, model_named(model or offered[0], service, offered))
        elif not (service.ready or service.found):
            raise VrError(
                f"No key of {name} was found.",
                Code.AUTH,
                hint=f"Set {service.variable or f'the settings of {name}'}, or run `vr init`.",
            )
        elif not service.used:
            agreed.append(name)
    return ModelChoice(agreed=agreed, declined=declined, models=models)


def settings_of(service: ModelService, model: str) -> dict[str, str]:
    """The settings that have a server asked for a model; a shell alone may know its address."""
    address = {service.address_setting: service.address} if service.address_setting else {}
    return {**address, service.model_setting: model}


def place_of(service: ModelService) -> str:
    """The host of a service, with its port."""
    return urlsplit(service.address).netloc.rpartition("@")[2] or "an address of your own"


def _silent(service: ModelService) -> VrError:
    return VrError(
        f"{service.name} does not answer at {place_of(service)}, or has no model.",
        Code.UNAVAILABLE,
        hint="Start it and get a model, then run it again.",
        retryable=True,
    )
