"""Finds an installed plugin by its name, or by the name of its distribution."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from typing import cast

from packaging.utils import canonicalize_name
from vr_kernel import VERSION, Code, VrError, did_you_mean
from vr_kernel.loading import Candidate, PluginState, check, discover

from vr_cli.inspection.subject import Metadata, Subject


def find_installed(name: str) -> Subject:
    """The installed plugin of that name, or of a distribution of that name.

    When several share the name, it is the one that the kernel takes.

    Raises:
        VrError: NOT_FOUND, with the nearest name.
    """
    candidates = discover()
    checked = check(candidates, wanted="*", disabled=(), kernel_version=VERSION)
    # Plugins that lost their name to another come last.
    ranked = sorted(checked, key=lambda pair: pair[1].state is PluginState.CONFLICT)
    for candidate, _ in ranked:
        if name == candidate.name or _is_same(name, candidate.distribution):
            return Subject(candidate.name, _metadata(candidate), candidate.module)
    known = [candidate.name for candidate in candidates]
    raise VrError(
        f"{name} is neither a folder nor an installed plugin.",
        Code.NOT_FOUND,
        hint=f"{did_you_mean(name, known)}`vr plugin list` shows what is installed.",
    )


def _metadata(candidate: Candidate) -> Metadata:
    try:
        # Its declared type lacks a method that a message has: `get` with a default.
        told = cast("Message", metadata(candidate.distribution))
    except (PackageNotFoundError, ValueError, UnicodeDecodeError):
        return Metadata(candidate.distribution, candidate.version, requires=candidate.requires)
    classified = [c for c in told.get_all("Classifier", []) if str(c).startswith("License ::")]
    licence = told.get("License-Expression") or told.get("License") or "".join(classified[:1])
    return Metadata(
        name=candidate.distribution,
        version=candidate.version,
        summary=str(told.get("Summary", "")),
        readme=bool(told.get("Description") or told.get_payload()),
        licence=str(licence),
        requires_python=str(told.get("Requires-Python", "")),
        requires=candidate.requires,
    )


def _is_same(name: str, distribution: str) -> bool:
    return canonicalize_name(name) == canonicalize_name(distribution)
