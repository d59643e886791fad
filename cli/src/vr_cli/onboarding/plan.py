"""Plans the changes to all files from the user's wishes; nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from vr_kernel import Code, Config, VrError
from vr_kernel.config import config_error

from vr_cli.onboarding.changes import Change, read_file, real_file, secrets_of
from vr_cli.onboarding.clients import SERVER, Client
from vr_cli.onboarding.json_text import UnreadableTextError, read_json, remove_json, set_json
from vr_cli.onboarding.launch import Launch, entry_of
from vr_cli.onboarding.model_choice import KEY_VARIABLE
from vr_cli.onboarding.settings_file import settings_change
from vr_cli.onboarding.toml_text import read_toml, remove_toml, set_toml
from vr_cli.onboarding.wishes import Wishes

MARK = "\ufeff"
"""Byte order mark, with which some editors on Windows begin a file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Files as they will be, and the errors of those that are left as they are."""

    changes: Sequence[Change] = ()
    refused: Sequence[VrError] = ()


def plan_changes(wishes: Wishes, launch: Launch, config_folder: Path, present: Config) -> Plan:
    """Every file with its new text; `present` are the settings of the user's files.

    A file that cannot be read, is malformed, or may not be written does not stop the others; the
    hint of its error says what to paste.

    Raises:
        VrError: CONFLICT when two clients share one file.
    """
    if len({real_file(path) for _, path in wishes.clients}) < len(wishes.clients):
        raise VrError(
            "Two of the clients share one file.",
            Code.CONFLICT,
            hint="Nothing was changed. Set them up one after the other.",
        )
    makers = [
        partial(removal_change, client, path)
        if wishes.remove
        else partial(client_change, client, path, launch)
        for client, path in wishes.clients
    ]
    if wishes.folders or wishes.models.has_settings:
        file = config_folder / "config.toml"
        makers.append(partial(settings_change, file, present, wishes))
    if wishes.models.key:
        variable = wishes.models.key_variable
        makers.append(partial(key_change, config_folder / ".env", variable, wishes.models.key))
    changes, refused = [], []
    for make in makers:
        try:
            changes.append(make())
        except VrError as error:
            refused.append(error)
    return Plan(changes, refused)


def client_change(client: Client, path: Path, launch: Launch) -> Change:
    """The client's file with our entry."""
    file = real_file(path)
    before = read_file(file)
    text = before or ""
    mark, body = (MARK, text[1:]) if text.startswith(MARK) else ("", text)
    keys = [client.servers, SERVER]
    entry = entry_of(client, launch)
    try:
        values = _read(client, body)
        servers = values.get(client.servers) if isinstance(values, dict) else None
        existing = servers.get(SERVER) if isinstance(servers, dict) else None
        entry = entry_of(client, launch, existing)
        after = text if existing == entry else mark + _set(client, body, keys, entry)
    except UnreadableTextError as error:
        raise _unreadable(client, file, error, entry) from None
    secrets = secrets_of(values)
    return Change(client.title, file, before, after, secrets=secrets)


def removal_change(client: Client, path: Path) -> Change:
    """The client's file without our entry."""
    file = real_file(path)
    before = read_file(file)
    text = before or ""
    mark, body = (MARK, text[1:]) if text.startswith(MARK) else ("", text)
    try:
        values = _read(client, body)
        after = mark + _without(client, body, [client.servers, SERVER])
    except UnreadableTextError as error:
        raise config_error(
            f"{file}, line {error.line}: {error}.",
            f"It was left as it is. Correct that line, or take {SERVER} out yourself.",
        ) from None
    return Change(client.title, file, before, after, secrets=secrets_of(values))


def key_change(path: Path, variable: str, key: str) -> Change:
    """The user's `.env` with the key as a variable, readable by its owner alone."""
    file = real_file(path)
    before = read_file(file)
    text = before or ""
    lines = text.splitlines(keepends=True)
    held = [n for n, line in enumerate(lines) if _variable(line) == variable]
    new = f"{variable}={key}\n"
    if held:
        lines[held[-1]] = new
    else:
        lines = [*lines, "\n" if text and not text.endswith("\n") else "", new]
    values = _variables(text)
    after = text if values.get(variable) == key else "".join(lines)
    if _variables(after) != {**values, variable: key}:
        raise config_error(
            f"{file} cannot be changed without harm.",
            f"It was left as it is. Set {variable} there yourself.",
        )
    secrets = {key, *(value for value in values.values() if value)}
    title = "Gemini key" if variable == KEY_VARIABLE else f"key {variable}"
    return Change(title, file, before, after, private=True, secrets=frozenset(secrets))


def _read(client: Client, text: str) -> Any:
    if client.format == "toml":
        return read_toml(text)
    return read_json(text, comments=client.format == "jsonc")


def _set(client: Client, text: str, keys: list[str], entry: dict[str, Any]) -> str:
    if client.format == "toml":
        return set_toml(text, keys, entry)
    return set_json(text, keys, entry, comments=client.format == "jsonc")


def _without(client: Client, text: str, keys: list[str]) -> str:
    if client.format == "toml":
        return remove_toml(text, keys)
    return remove_json(text, keys, comments=client.format == "jsonc")


def _unreadable(
    client: Client, file: Path, error: UnreadableTextError, entry: dict[str, Any]
) -> VrError:
    paste = _set(client, "", [client.servers, SERVER], entry).strip()
    return config_error(
        f"{file}, line {error.line}: {error}.",
        f"It was left as it is. Correct that line and run it again, or paste this:\n{paste}",
    )


def _variable(line: str) -> str:
    return line.partition("=")[0].strip().removeprefix("export ").strip()


def _variables(text: str) -> dict[str, str | None]:
    from dotenv import dotenv_values

    return dict(dotenv_values(stream=StringIO(text), interpolate=False))
