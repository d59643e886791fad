"""The providers that the user agreed to: nothing goes to any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vr_kernel.config.model_settings import ModelConfiguration
from vr_kernel.config.sources import PREFIX
from vr_kernel.errors import Code, VrError
from vr_kernel.models.provider import ModelAccess, ModelProvider
from vr_kernel.providers import ProviderRegistry

if TYPE_CHECKING:
    from vr_kernel.config.config import Config
    from vr_kernel.config.sources import Setting
    from vr_kernel.models.provided import ProvidedModel

FROM_ENVIRONMENT = "variable "
"""Begins the origin of a setting that comes from the environment."""
ANY_WILL_DO = " Any other provider will do as well: see `vr init` and `infra_models`."
NOT_AGREED, LOCAL_ONLY = "PROVIDER_NOT_AGREED", "LOCAL_ONLY"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The user's agreement to a provider.

    Args:
        given: whether requests may go there.
        reason: by what it was given, or why not.
        variables: environment variables by which it is known, where it was not given.
    """

    given: bool
    reason: str
    variables: tuple[str, ...] = ()


class Consent:
    """Knows which providers the user agreed to.

    A provider is agreed to that is named in `[models]`, that is on this machine, or whose keys and
    address stand in the program's own configuration. What merely lies in the environment of a
    shell may belong to another program, unless its name begins with `VR_`; the environment that a
    client hands to its server does not.

    Args:
        configuration: the settings of `[models]`.
        providers: all that are installed.
        config: says where the settings of their plugins come from.
        handed: whether the environment was handed over by a client.
    """

    def __init__(
        self,
        configuration: ModelConfiguration,
        providers: ProviderRegistry,
        config: Config,
        *,
        handed: bool = False,
    ) -> None:
        self._configuration = configuration
        self._providers = providers
        self._config = config
        self._handed = handed
        self._origins: dict[str, Mapping[str, Setting]] = {}

    def of(self, name: str) -> Agreement:
        """The agreement to a provider."""
        access = self.access(name)
        settings = self._configuration.current
        if settings.local_only and not access.local:
            return Agreement(given=False, reason="local_only is set in [models]")
        if name in self._configuration.agreed_providers:
            return Agreement(given=True, reason="named in [models]")
        if access.local:
            if name in settings.declined:
                return Agreement(given=False, reason="declined in [models]")
            return Agreement(given=True, reason="on this machine")
        return self._by_origin(name, declined=name in settings.declined)

    def require(self, model: ProvidedModel) -> None:
        """Refuse a model of a provider that the user did not agree to, or that is elsewhere.

        Raises:
            VrError: NOT_ALLOWED, category LOCAL_ONLY or PROVIDER_NOT_AGREED.
        """
        name = model.provider.name
        agreement = self.of(name)
        here = self._configuration.current.local_only
        if here and (not agreement.given or model.known().remote):
            raise VrError(
                f"{model.name} is not on this machine, and local_only is set in [models].",
                Code.NOT_ALLOWED,
                category=LOCAL_ONLY,
                hint="Name a local model in [models], or set local_only = false.",
            )
        if agreement.given:
            return
        if name in self._configuration.current.declined:
            raise VrError(
                f"{name} is declined in [models].",
                Code.NOT_ALLOWED,
                category=NOT_AGREED,
                hint=f"To use it, take {name!r} out of declined.",
            )
        found = f"; found: {', '.join(agreement.variables)}." if agreement.variables else "."
        raise VrError(
            f"A key or an address of {name} was found in the environment, but you have not agreed"
            " to its use.",
            Code.NOT_ALLOWED,
            category=NOT_AGREED,
            hint=f"If it is meant for this program, set agreed = ['{name}'] in [models]{found}",
        )

    def usable(self, names: Iterable[str]) -> list[str]:
        """The providers that can be asked: agreed to, with all that they need configured."""
        return [name for name in self._ready(names) if self.of(name).given]

    def instead(self, names: Sequence[str]) -> str:
        """The other providers that a user without the key of one has, in a sentence.

        It begins with a space; it is empty where another one is asked already, or none is there.
        """
        ready = self._ready(names)
        if unused := [name for name in ready if self.of(name).variables]:
            variables = ", ".join(one for name in unused for one in self.of(name).variables)
            return f" Found and not used: {variables}; if meant, set agreed = {unused} in [models]."
        return ANY_WILL_DO if len(names) > 1 and not ready else ""

    def access(self, name: str) -> ModelAccess:
        """The way to a provider; of one that does not say, that of a remote service."""
        with self._providers.contained(ModelProvider, name):
            provider = self._providers.get(ModelProvider, name)
            access_of = getattr(provider, "access", None)
            return ModelAccess() if access_of is None else access_of()

    def _by_origin(self, name: str, *, declined: bool) -> Agreement:
        """The agreement to a provider that is not named, by where its key and address are from."""
        found = self._in_environment(name)
        if found and declined:
            return Agreement(given=False, reason="declined in [models]")
        if self._handed:
            return Agreement(given=True, reason="handed over by the client")
        if not found:
            return Agreement(given=True, reason="configured")
        return Agreement(
            given=False, reason=f"found in the environment: {', '.join(found)}", variables=found
        )

    def _ready(self, names: Iterable[str]) -> list[str]:
        found = []
        for name in names:
            with suppress(VrError):  # a provider that fails is not ready; its log says why
                if self.access(name).ready:
                    found.append(name)
        return found

    def _in_environment(self, name: str) -> tuple[str, ...]:
        """The variables by which a provider got its key or its address."""
        keys = self._providers.keys_of(ModelProvider, name)
        found = self._settings_of(name) if keys else {}
        origins = [found[key].origin for key in keys if key in found]
        variables = (
            it.removeprefix(FROM_ENVIRONMENT) for it in origins if it.startswith(FROM_ENVIRONMENT)
        )
        return tuple(name for name in variables if not name.startswith(PREFIX))

    def _settings_of(self, name: str) -> Mapping[str, Setting]:
        """The settings that are set for a provider's plugin; read once."""
        owner = self._providers.owner_of(ModelProvider, name)
        if owner.plugin not in self._origins:
            settings = owner.services.settings
            section = f"plugins.{owner.plugin}"
            found = {} if settings is None else self._config.settings(section, type(settings))
            self._origins[owner.plugin] = found
        return self._origins[owner.plugin]
