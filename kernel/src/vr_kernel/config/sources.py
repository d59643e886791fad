"""Sources of settings: files, variables and flags, each as a layer of named values."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vr_kernel.config.paths import private_file, private_folder
from vr_kernel.errors import Code, VrError, did_you_mean

SECTIONS = ("kernel", "kernel.http", "kernel.serve", "models", "store")
PREFIX = "VR_"
TRUST_FILE = "trusted-folders.txt"
PROJECT_FILE = "vr.toml"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it was set, for `vr config show --origin`."""

    section: str
    key: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Alias:
    """Setting of a variable: its own text, or the value that it `means` when it is set at all."""

    section: str
    key: str
    means: str | None = None


def config_error(message: str, hint: str) -> VrError:
    """The error of a configuration that cannot be used; the command line exits with 3."""
    return VrError(message, Code.INVALID_INPUT, category="CONFIG_INVALID", hint=hint)


def toml_settings(path: Path) -> Iterator[Setting]:
    """The settings of a TOML file; none when it does not exist.

    Raises:
        VrError: INVALID_INPUT for a file that cannot be read, or an unknown section.
    """
    for section, values in _read_toml(path).items():
        if section == "plugins":
            tables = _table(path, section, values)
        elif section in SECTIONS:
            tables = _with_subsections(section, values)
        else:
            raise _unknown_section(f"{path} has an unknown section [{section}].", section)
        for name, table in tables.items():
            where = f"plugins.{name}" if section == "plugins" else name
            for key, value in _table(path, where, table).items():
                yield Setting(where, key, value, str(path))


def environment_settings(
    environ: Mapping[str, str], aliases: Mapping[str, Alias], origin: str
) -> Iterator[Setting]:
    """Settings of variables: `VR_SECTION__KEY`, and declared aliases of single settings.

    A section within a section takes one more `__`: `VR_KERNEL__HTTP__MAX_BYTES`. A plugin's section
    is named by the plugin alone, `VR_VIDEO__OCR`, or with `PLUGINS__` before it where another
    section has that name: `VR_PLUGINS__MODELS__GROQ_MODEL`.

    `aliases` maps a variable's name to what it sets. Values stay text; models parse them.
    If several variables set one setting, its own name wins, then the alias declared first. An empty
    variable counts as not set, as is usual in shells and service files.
    """
    for name in reversed(list(aliases)):
        if environ.get(name):
            alias = aliases[name]
            value = alias.means or parse_text(environ[name])
            yield Setting(alias.section, alias.key, value, f"{origin} {name}")
    for name, text in environ.items():
        if text and name.startswith(PREFIX) and "__" in name and name not in aliases:
            section, key = _named(name.removeprefix(PREFIX).lower())
            yield Setting(section, key, parse_text(text), f"{origin} {name}")


def env_file_settings(path: Path, aliases: Mapping[str, Alias]) -> Iterator[Setting]:
    """Settings of a `.env` file, as if its lines were variables."""
    if not path.is_file():
        return
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, interpolate=False)
    except OSError as error:
        raise config_error(f"{path} cannot be read: {error.strerror}.", "Check it.") from error
    except UnicodeDecodeError as error:
        raise config_error(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from error
    present = {name: value for name, value in values.items() if value is not None}
    yield from environment_settings(present, aliases, str(path))


def flag_settings(flags: Mapping[str, str]) -> Iterator[Setting]:
    """Settings of `--set section.key=value`."""
    for name, text in flags.items():
        section, dot, key = name.rpartition(".")
        if not dot:
            raise config_error(
                f"--set {name} names no section.", "Write it as --set kernel.log_level=debug."
            )
        if section not in SECTIONS and not section.startswith("plugins."):
            raise _unknown_section(f"--set {name} names no known section.", section)
        yield Setting(section, key, parse_text(text), f"--set {name}")


def is_trusted(folder: Path, config_folder: Path) -> bool:
    """True when `vr config trust` allowed the `vr.toml` of that folder."""
    return str(folder.resolve()) in trusted_folders(config_folder)


def trusted_folders(config_folder: Path) -> list[str]:
    """The folders that `vr config trust` was given."""
    file = config_folder / TRUST_FILE
    return file.read_text("utf-8").splitlines() if file.is_file() else []


def trust_folder(folder: Path, config_folder: Path) -> Path:
    """Let the `vr.toml` of a folder change settings of commands there; returns that file."""
    known, name = trusted_folders(config_folder), str(folder.resolve())
    if name not in known:
        file = private_folder(config_folder) / TRUST_FILE
        private_file(file).write_text("\n".join([*known, name, ""]), "utf-8")
    return folder / PROJECT_FILE


def parse_text(text: str) -> Any:
    """JSON when the text is a list or an object, the text itself otherwise."""
    if text.strip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _named(name: str) -> tuple[str, str]:
    """Section and key of `section__key`, `section__section__key` or `plugins__section__key`."""
    head, _, key = name.rpartition("__")
    if head.replace("__", ".") in SECTIONS:
        return head.replace("__", "."), key
    head, _, key = name.removeprefix("plugins__").partition("__")
    if name.startswith("plugins__") and key:
        return f"plugins.{head.replace('_', '-')}", key
    head, _, key = name.partition("__")
    return (head if head in SECTIONS else f"plugins.{head.replace('_', '-')}"), key


def _with_subsections(section: str, values: Any) -> dict[str, Any]:
    """A section and those within it, which TOML gives as its values."""
    if not isinstance(values, dict):
        return {section: values}
    inner = {name: values[name] for name in values if f"{section}.{name}" in SECTIONS}
    outer = {name: value for name, value in values.items() if name not in inner}
    return {section: outer, **{f"{section}.{name}": table for name, table in inner.items()}}


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise config_error(f"{path} cannot be read: {error.strerror}.", "Check it.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        twice = "twice" in str(error)
        hint = "Put the settings of both under one heading." if twice else "Correct it."
        raise config_error(f"{path} is not valid TOML: {error}.", hint) from error


def _unknown_section(message: str, section: str) -> VrError:
    meant = did_you_mean(section, [*SECTIONS, "plugins"])
    sections = f"Sections: {', '.join(f'[{name}]' for name in SECTIONS)}, [plugins.NAME]."
    return config_error(message, f"{meant}{sections}")


def _table(path: Path, section: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise config_error(
            f"{path}: {section} is not a section.", f"Write its settings below [{section}]."
        )
    return value
