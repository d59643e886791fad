"""Configuration: layers of settings, merged, then validated section by section."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.config.paths import Paths, env_files, find_paths, keep_private
from vr_kernel.config.settings import (
    EnvAlias,
    HttpSettings,
    KernelSettings,
    ServeSettings,
    StoreSettings,
)
from vr_kernel.config.sources import (
    PROJECT_FILE,
    Alias,
    Setting,
    config_error,
    env_file_settings,
    environment_settings,
    flag_settings,
    is_trusted,
    toml_settings,
)
from vr_kernel.errors import VrError, did_you_mean
from vr_kernel.text.redaction import redactor

M = TypeVar("M", bound=BaseModel)
MOST_NAMED = 40
"""Most settings of a section that the error of an unknown one names."""


def aliases_of(section: str, model: type[BaseModel]) -> dict[str, Alias]:
    """Variables that the fields of a section's model declare for themselves, by name."""
    return {
        mark.name: Alias(section, key, mark.means) for key, mark in _marks(model) if not mark.sets
    }


def _marks(model: type[BaseModel]) -> Iterator[tuple[str, EnvAlias]]:
    for key, field in model.model_fields.items():
        yield from ((key, mark) for mark in field.metadata if isinstance(mark, EnvAlias))


class Config:
    """All settings of one run, lowest layer first, and the folders they are kept in.

    Layers: defaults, the user's `.env`, the user's `config.toml`, a trusted project's
    `vr.toml`, the environment, flags.

    Attributes:
        remarks: a sentence for each setting that is accepted without effect.
    """

    def __init__(self, paths: Paths, environ: Mapping[str, str], layers: list[Setting]) -> None:
        self.paths = paths
        self.environ = environ
        self._files_and_flags = layers
        self._adopted: dict[str, Alias] = {}
        self.remarks: dict[str, str] = {}
        self.kernel: KernelSettings = self.section("kernel", KernelSettings)
        self.http: HttpSettings = self.section("kernel.http", HttpSettings)
        self.serve: ServeSettings = self.section("kernel.serve", ServeSettings)
        self.models: ModelsSettings = self.section("models", ModelsSettings)
        self.store: StoreSettings = self.section("store", StoreSettings)

    def section(self, name: str, model: type[M]) -> M:
        """The validated settings of one section, such as `kernel` or `plugins.video`.

        Raises:
            VrError: INVALID_INPUT, category CONFIG_INVALID: an unknown key, with the nearest
                name, or a value that does not fit.
        """
        self._adopt(model)
        settings = self.settings(name, model)
        gone: Mapping[str, str] = getattr(model, "gone", {})
        for key, setting in settings.items():
            if key in gone:
                self.remarks[f"{name}.{key}"] = (
                    f"{key} in [{name}] has no effect any more ({setting.origin}). {gone[key]}"
                )
            elif key not in model.model_fields:
                raise _unknown_key(setting, model)
        values = {key: s.value for key, s in settings.items() if key not in gone}
        try:
            return model.model_validate(values)
        except ValidationError as error:
            raise _bad_value(name, settings, error) from None

    def settings(self, name: str, model: type[BaseModel]) -> dict[str, Setting]:
        """The values set in a section, the highest layer winning; defaults are not among them."""
        adopted = {it: alias for it, alias in self._adopted.items() if alias.section == name}
        low, high = self._variables({**aliases_of(name, model), **adopted})
        layers = [*low, *self._files(), *high, *self._flags()]
        return {s.key: s for s in layers if s.section == name}

    @property
    def sections(self) -> list[str]:
        """The sections that files and flags set something in."""
        return list(dict.fromkeys(setting.section for setting in self._files_and_flags))

    def with_flags(self, flags: Mapping[str, str]) -> Config:
        """The same configuration with more settings on top, given as `section.key`.

        Raises:
            VrError: as `section`.
        """
        return Config(self.paths, self.environ, [*self._files_and_flags, *flag_settings(flags)])

    def _adopt(self, model: type[BaseModel]) -> None:
        """Apply the variables by which a plugin's section sets a key of another section."""
        marks = [mark for _, mark in _marks(model) if mark.sets and mark.name not in self._adopted]
        for mark in marks:
            section, _, key = mark.sets.rpartition(".")
            self._adopted[mark.name] = Alias(section, key, mark.means)
        if any(self._adopted[mark.name].section == "store" for mark in marks):
            self.store = self.section("store", StoreSettings)

    def _variables(self, aliases: Mapping[str, Alias]) -> tuple[list[Setting], list[Setting]]:
        low = [
            setting
            for file in env_files(self.environ, self.paths.config)
            for setting in env_file_settings(file, aliases)
        ]
        return low, list(environment_settings(self.environ, aliases, "variable"))

    def _files(self) -> Iterator[Setting]:
        return (s for s in self._files_and_flags if not s.origin.startswith("--set"))

    def _flags(self) -> Iterator[Setting]:
        return (s for s in self._files_and_flags if s.origin.startswith("--set"))


def load_config(
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    working_folder: Path | None = None,
) -> Config:
    """Read the configuration of this machine, user and folder.

    Everything that reads the program's folders comes through here first, so this also closes them
    to other users.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID, naming the file and the problem.
    """
    variables = os.environ if environ is None else environ
    paths = find_paths(variables)
    for each in (paths.config, paths.state, paths.cache):
        keep_private(each)
    layers = list(toml_settings(paths.config / "config.toml"))
    folder = working_folder or Path.cwd()
    if is_trusted(folder, paths.config):
        layers += toml_settings(folder / PROJECT_FILE)
    layers += flag_settings(flags or {})
    return Config(paths, variables, layers)


def described(config: Config, name: str, section: BaseModel) -> dict[str, dict[str, Any]]:
    """Value and origin of each setting of a section, fit for display.

    Args:
        config: the settings.
        name: of the section, such as `plugins.video`.
        section: its validated settings.
    """
    origins = config.settings(name, type(section))
    return {
        key: {"value": value, "origin": origins[key].origin if key in origins else "default"}
        for key, value in shown(section).items()
    }


def shown(value: Any) -> Any:
    """Return a setting's value for display: a secret as `set`, secrets in a text hidden."""
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else ""
    if isinstance(value, BaseModel):
        return {key: shown(getattr(value, key)) for key in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [shown(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return redactor(())(str(value))


def _unknown_key(setting: Setting, model: type[BaseModel]) -> VrError:
    names = list(model.model_fields)
    meant = did_you_mean(setting.key, names)
    known = ", ".join(names) or "none"
    if len(names) > MOST_NAMED:
        known = f"{len(names)}; `vr config show` lists them"
    return config_error(
        f"[{setting.section}] has no setting {setting.key!r} ({setting.origin}).",
        f"{meant}Settings: {known}.",
    )


def _bad_value(section: str, settings: Mapping[str, Setting], error: ValidationError) -> VrError:
    first = error.errors(include_url=False, include_input=False)[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "missing":
        return config_error(f"[{section}] {key} has no value, and no default.", "Set it.")
    origin = settings[key].origin if key in settings else "default"
    said = redactor(str(setting.value) for setting in settings.values())(first["msg"])
    return config_error(f"[{section}] {key}: {said} ({origin}).", "Correct or remove that setting.")
