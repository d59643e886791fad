"""Plans the changes to all files from the user's wishes; nothing is written here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from vr_kernel import Code, VrError
from vr_kernel.config import config_error

from vr_cli.onboarding.changes import Change, read_file, real_file, secrets_of
from vr_cli.onboarding.clients import SERVER, Client
from vr_cli.onboarding.json_text import UnreadableTextError, read_json, remove_json, set_json
from vr_cli.onboarding.launch import Launch, entry_of
from vr_cli.onboarding.toml_text import read_toml, remove_toml, set_toml

KEY_VARIABLE = "GEMINI_API_KEY"
MARK = "\ufeff"
"""Byte order mark, with which some editors on Windows begin a file."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Wishes of a user: clients with their files, folders that may be read, a key.

    With `remove` our entry is taken out of the clients' files instead.
    """

    clients: Sequence[tuple[Client, Path]] = ()
    folders: Sequence[Path] = ()
    key: str = field(default="", repr=False)
    remove: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Files as they will be, and the errors of those that are left as they are."""

    changes: Sequence[Change] = ()
    refused: Sequence[VrError] = ()


def plan_changes(
    wishes: Wishes, launch: Launch, config_folder: Path, allowed: Sequence[Path]
) -> Plan:
    """Every file with its new text; `allowed` are the folders that may be read already.

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
    if wishes.folders:
        file = config_folder / "config.toml"
        makers.append(partial(folders_change, file, allowed, wishes.folders))
    if wishes.key:
        makers.append(partial(key_change, config_folder / ".env", wishes.key))
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


def folders_change(path: Path, allowed: Sequence[Path], folders: Sequence[Path]) -> Change:
    """The user's own `config.toml`, with these folders added to those allowed."""
    file = real_file(path)
    before = read_file(file)
    new = [str(folder) for folder in dict.fromkeys(folders) if folder not in allowed]
    try:
        values = read_toml(before or "")
        listed = values.get("kernel", {}).get("allowed_roots")
        roots = [*(listed if isinstance(listed, list) else map(str, allowed)), *new]
        after = set_toml(before or "", ["kernel", "allowed_roots"], roots) if new else before
    except UnreadableTextError as error:
        raise config_error(
            f"{file}, line {error.line}: {error}.",
            f"It was left as it is. Add to allowed_roots below [kernel]: {json.dumps(new)}",
        ) from None
    secrets = secrets_of(values)
    title = "folders that may be read"
    return Change(title, file, before, after or "", private=True, secrets=secrets)


def key_change(path: Path, key: str) -> Change:
    """The user's `.env` with the key, readable by its owner alone."""
    file = real_file(path)
    before = read_file(file)
    text = before or ""
    lines = text.splitlines(keepends=True)
    held = [n for n, line in enumerate(lines) if _variable(line) == KEY_VARIABLE]
    new = f"{KEY_VARIABLE}={key}\n"
    if held:
        lines[held[-1]] = new
    else:
        lines = [*lines, "\n" if text and not text.endswith("\n") else "", new]
    values = _variables(text)
    after = text if values.get(KEY_VARIABLE) == key else "".join(lines)
    if _variables(after) != {**values, KEY_VARIABLE: key}:
        raise config_error(
            f"{file} cannot be changed without harm.",
            f"It was left as it is. Set {KEY_VARIABLE} there yourself.",
        )
    secrets = {key, *(value for value in values.values() if value)}
    return Change("Gemini key", file, before, after, private=True, secrets=frozenset(secrets))


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
