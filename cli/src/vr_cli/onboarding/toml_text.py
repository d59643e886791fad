"""Sets a value in TOML text with tomlkit, which keeps comments and order."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from vr_cli.onboarding.json_text import UnreadableTextError

_LINE = re.compile(r"at line (\d+)")


def read_toml(text: str) -> dict[str, Any]:
    """The value of TOML text.

    Raises:
        UnreadableTextError: with the line.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = _LINE.search(str(error))
        line = int(where[1]) if where else text.count("\n") + 1
        raise UnreadableTextError(str(error).partition(" (at ")[0], line) from None
    except RecursionError:
        raise UnreadableTextError("Too deeply nested", 1) from None


def set_toml(text: str, keys: Sequence[str], value: Any) -> str:
    """The text with the value at `keys` set; missing tables on the way are made.

    Raises:
        UnreadableTextError: when the text is not TOML, or something else stands on the way.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted = read_toml(text)
    _set(wanted, keys, value)
    try:
        document = tomlkit.parse(text.replace("\r\n", "\n"))
        _put(_parent(document, keys, value), keys[-1], value)
        made = tomlkit.dumps(document)
        harmed = tomllib.loads(made) != wanted
    except (TOMLKitError, ValueError, TypeError, RecursionError):
        harmed = True  # a form that tomlkit does not edit
    if harmed:
        raise UnreadableTextError(f"{'.'.join(keys)} cannot be set without harm to the rest", 1)
    return made.replace("\n", "\r\n") if "\r\n" in text else made


def remove_toml(text: str, keys: Sequence[str]) -> str:
    """The text without the value at `keys`.

    Raises:
        UnreadableTextError: when the text is not TOML, or cannot be changed without harm.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted = read_toml(text)
    table: Any = wanted
    for key in keys[:-1]:
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict) or keys[-1] not in table:
        return text
    del table[keys[-1]]
    try:
        place: Any = tomlkit.parse(text.replace("\r\n", "\n"))
        document = place
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]
        made = tomlkit.dumps(document)
        left = tomllib.loads(made)
        # A table that held nothing else may be removed with it.
        harmed = left != wanted and left != {k: v for k, v in wanted.items() if v != {}}
    except (TOMLKitError, ValueError, TypeError, RecursionError):
        harmed = True
    if harmed:
        raise UnreadableTextError(f"{'.'.join(keys)} cannot be taken out without harm", 1)
    return made.replace("\n", "\r\n") if "\r\n" in text else made


def _set(values: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
        if not isinstance(values, dict):
            raise UnreadableTextError(f"{key} is no table", 1)
    values[keys[-1]] = value


def _parent(document: Any, keys: Sequence[str], value: Any) -> Any:
    """The table that holds the last key; a new one that holds only tables gets no header."""
    import tomlkit

    table = document
    for key in keys[:-1]:
        if key not in table:
            bare = isinstance(value, Mapping) or key != keys[-2]
            table[key] = tomlkit.table(is_super_table=bare)
        table = table[key]
    return table


def _put(table: MutableMapping[str, Any], key: str, value: Any) -> None:
    """Set a value; in an array or a table change only what differs."""
    import tomlkit
    from tomlkit.items import InlineTable

    old = table.get(key)
    if isinstance(value, Mapping) and isinstance(old, MutableMapping):
        for name in [name for name in old if name not in value]:
            del old[name]
        for name in [name for name in value if old.get(name) != value[name]]:
            _put(old, name, value[name])
    elif isinstance(value, list) and isinstance(old, list) and value[: len(old)] == old:
        old.extend(value[len(old) :])
    elif isinstance(value, Mapping):
        table[key] = _table(value, inline=isinstance(table, InlineTable))
    else:
        table[key] = tomlkit.item(value)


def _table(value: Mapping[str, Any], *, inline: bool) -> Any:
    import tomlkit

    made: Any = tomlkit.inline_table() if inline else tomlkit.table()
    for name, item in value.items():
        made[name] = _table(item, inline=True) if isinstance(item, Mapping) else item
    return made
