"""Checks of `[models]`: possible keys, a possible address, models that are known."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import get_args
from urllib.parse import urlsplit

from vr_kernel.config.settings import ModelsSettings
from vr_kernel.errors import VrError, did_you_mean
from vr_kernel.generation import Role
from vr_kernel.health import Check, Diagnosis
from vr_kernel.models.roles import AUTO, GEMINI, Roles

WHERE = "https://aistudio.google.com/apikey"
SHORTEST_KEY = 20
_KEY = re.compile(r"[A-Za-z0-9._-]+")
_PLACEHOLDER = re.compile(r"your|example|changeme|<|\.\.\.|x{6}", re.IGNORECASE)


def model_checks(roles: Roles) -> list[Check]:
    """The checks of `[models]`."""
    settings = roles.configuration.current
    return [
        Check("gemini key", lambda: examine_keys(_keys(settings))),
        Check("gemini address", lambda: base_url(settings.gemini_base_url)),
        Check("models", lambda: known_models(roles)),
    ]


def examine_keys(keys: Sequence[str]) -> Diagnosis:
    """Check that there are Gemini keys that look like keys. None is shown, not even in part."""
    if not keys:
        return Diagnosis.warning(
            "No Gemini key is set: videos are watched on this machine alone.",
            f"Get one at {WHERE}, then run `vr init` or set GEMINI_API_KEY.",
        )
    for number, key in enumerate(keys, 1):
        if wrong := _wrong_with(key):
            return Diagnosis.fault(
                f"Gemini key {number} of {len(keys)} {wrong}.",
                f"Copy it again from {WHERE} and set GEMINI_API_KEY.",
            )
    if len(set(keys)) < len(keys):
        return Diagnosis.warning("A Gemini key is set twice.", "Remove one of the two.")
    return Diagnosis.ok(f"Set: {len(keys)}; not tried, for nothing here asks the network.")


def base_url(address: str) -> Diagnosis:
    """Check that the configured address of the service can be one. Only its host is shown."""
    if not address:
        return Diagnosis.ok("Google's own.")
    fix = "Correct gemini_base_url in [models], or GOOGLE_GEMINI_BASE_URL."
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return Diagnosis.fault("It is no address.", fix)
    if parts.scheme not in ("http", "https") or not host:
        return Diagnosis.fault("It is no http or https address.", fix)
    if parts.username or parts.password or parts.query:
        return Diagnosis.fault(f"The address of {host} holds a name, a password or a query.", fix)
    if parts.scheme == "http" and not _is_here(host):
        return Diagnosis.warning(f"Keys and videos go to {host} unencrypted.", "Use https.")
    return Diagnosis.ok(f"{parts.scheme}://{host}")


def known_models(roles: Roles) -> Diagnosis:
    """Check that every configured model has a provider, and is one that it knows."""
    count = 0
    for setting, name in _configured(roles.configuration.current):
        count += 1
        fix = f"Correct {setting} in [models]."
        try:
            model = roles.named(name)
        except VrError as error:
            return Diagnosis.fault(f"{setting}: {error.message}", error.hint or fix)
        known = [info.name for info in model.provider.models()]
        if known and model.id not in known:
            meant = did_you_mean(model.id, known)
            what = f"{setting}: {model.provider.name} knows no model {model.id!r}."
            return Diagnosis.warning(what, f"{meant}{fix} One newer than this release may work.")
    if not count:
        return Diagnosis.ok(f"Those of the preset {roles.configuration.current.preset!r}.")
    return Diagnosis.ok(f"Configured: {count}, all known.")


def _configured(settings: ModelsSettings) -> Iterator[tuple[str, str]]:
    for role in get_args(Role):
        for name in getattr(settings, role):
            if name != AUTO:
                yield role, name
    for setting in ("gemini_model", "gemini_flash_model"):
        if name := getattr(settings, setting).strip():
            yield setting, f"{GEMINI}/{name.removeprefix('models/').removeprefix('gemini/')}"


def _keys(settings: ModelsSettings) -> list[str]:
    return [key.get_secret_value() for key in settings.gemini_api_keys]


def _wrong_with(key: str) -> str:
    if _PLACEHOLDER.search(key):
        return "is a placeholder"
    if key != key.strip("\"'"):
        return "stands in quotation marks"
    if not _KEY.fullmatch(key):
        return "holds spaces or characters that no key has"
    if len(key) < SHORTEST_KEY:
        return f"is too short, with {len(key)} characters"
    return ""


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
