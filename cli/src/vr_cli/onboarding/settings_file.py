"""Plans the change of the user's own `config.toml`: folders that may be read, and models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vr_kernel import Config
from vr_kernel.config import config_error

from vr_cli.onboarding.changes import Change, read_file, real_file, secrets_of
from vr_cli.onboarding.json_text import UnreadableTextError
from vr_cli.onboarding.toml_text import read_toml, set_toml
from vr_cli.onboarding.wishes import Wishes


def settings_change(path: Path, present: Config, wishes: Wishes) -> Change:
    """The file with what the user wishes; what is set otherwise stays.

    Args:
        path: of the file.
        present: the settings of the user's files.
        wishes: of the user.
    """
    file = real_file(path)
    before = read_file(file)
    after = before or ""
    try:
        values = read_toml(after)
        for name, value in _wanted(values, present, wishes).items():
            after = set_toml(after, name.split("."), value)
    except UnreadableTextError as error:
        wanted = _wanted({}, present, wishes)
        lines = "; ".join(f"{name} = {json.dumps(value)}" for name, value in wanted.items())
        raise config_error(
            f"{file}, line {error.line}: {error}.",
            f"It was left as it is. {f'Set there: {lines}' if lines else 'Correct that line.'}",
        ) from None
    topics = {"folders that may be read": wishes.folders, "models": wishes.models.has_settings}
    title = " and ".join(topic for topic, wished in topics.items() if wished)
    return Change(title, file, before, after, private=True, secrets=secrets_of(values))


def _wanted(values: Mapping[str, Any], present: Config, wishes: Wishes) -> dict[str, Any]:
    """The settings to change, each by its whole name."""
    choice, settings, roots = wishes.models, present.models, present.kernel.allowed_roots
    folders = [str(it) for it in dict.fromkeys(wishes.folders) if it not in roots]
    changed = {
        "kernel.allowed_roots": (folders, [str(root) for root in roots], []),
        "models.agreed": (choice.agreed, settings.agreed, choice.declined),
        "models.declined": (choice.declined, settings.declined, choice.agreed),
    }
    wanted: dict[str, Any] = {}
    for name, (new, known, gone) in changed.items():
        listed = _listed(values, name, known)
        left = [each for each in listed if each not in gone]
        whole = [*left, *(each for each in new if each not in left)]
        if whole != list(listed):
            wanted[name] = whole
    return {**wanted, **choice.models}


def _listed(values: Mapping[str, Any], name: str, known: Sequence[str]) -> Sequence[str]:
    """The list as the file has it; elsewhere set, what is known of it."""
    section, _, key = name.partition(".")
    listed = values.get(section, {}).get(key)
    return listed if isinstance(listed, list) else known
