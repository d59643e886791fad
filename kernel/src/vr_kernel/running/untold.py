"""Texts for callers other than the owner: without the server's folders and processes."""

from __future__ import annotations

import os
import re
from typing import Any

from vr_kernel.config.paths import Paths
from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifacts

ASK = "Ask the owner of the server to run `vr doctor`, which says what to do."
_PROCESS = re.compile(r"Process \d+ is [^.]*\.")
"""The sentence in which `lock_holders` names one."""


def without_machine(data: Any, paths: Paths) -> Any:
    """JSON data whose texts name files of the server without their folders, and no processes."""
    if isinstance(data, str):
        return _plain(data, paths)
    if isinstance(data, dict):
        return {name: without_machine(value, paths) for name, value in data.items()}
    if isinstance(data, list):
        return [without_machine(value, paths) for value in data]
    return data


def told_to_others(error: VrError, paths: Paths, artifacts: Artifacts | None = None) -> VrError:
    """An error reworded for other callers: only the owner can do what its hint says about a file.

    `artifacts` are the ones that they may read.
    """
    said = [error.message, error.hint]
    message, given = artifacts.addressed(said) if artifacts else said
    hint = _plain(given, paths)
    if hint != given:
        hint = f"Call again later. {ASK}" if error.retryable else ASK
    return error.reworded(_plain(message, paths), hint)


def _plain(text: str, paths: Paths) -> str:
    named = {"state": paths.state, "cache": paths.cache, "configuration": paths.config}
    spelt = {spelling: name for name, it in named.items() for spelling in (it, it.resolve())}
    for folder in sorted(spelt, key=lambda folder: len(str(folder)), reverse=True):
        beginning = re.escape(str(folder))
        text = re.sub(rf"{beginning}{re.escape(os.sep)}(?=[\w.])", "", text)
        text = re.sub(rf"{beginning}(?![\w-])", f"the {spelt[folder]} folder", text)
    return _PROCESS.sub(ASK, text)
