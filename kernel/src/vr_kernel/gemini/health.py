"""Checks of the form of the Gemini keys and of the service's address."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vr_kernel.config.model_settings import GEMINI
from vr_kernel.gemini.errors import KEY_PAGE
from vr_kernel.health import Check, Diagnosis

if TYPE_CHECKING:
    from vr_kernel.models.roles import Roles

SHORTEST_KEY = 20
_KEY = re.compile(r"[A-Za-z0-9._/+=:-]+")
_PLACEHOLDER = re.compile(r"your|example|changeme|<|\.\.\.|x{6}", re.IGNORECASE)


def gemini_checks(roles: Roles) -> list[Check]:
    """The checks of keys and address."""
    settings = roles.configuration.current
    keys = [key.get_secret_value() for key in settings.gemini_api_keys]
    return [
        Check("gemini key", lambda: examine_keys(keys) if keys else without_key(roles)),
        Check("gemini address", lambda: examine_address(settings.gemini_base_url)),
    ]


def without_key(roles: Roles) -> Diagnosis:
    """Check that another provider can be asked where Gemini has no key."""
    if others := roles.consent.usable(name for name in roles.providers if name != GEMINI):
        ready = "is ready" if len(others) == 1 else "are ready"
        return Diagnosis.ok(f"Not needed: {', '.join(others)} {ready}.")
    missing = examine_keys([])
    what = "No language model is ready: videos are watched on this machine alone."
    return Diagnosis.warning(what, missing.fix + roles.consent.instead(roles.providers))


def examine_keys(keys: Sequence[str], service: str = GEMINI.title()) -> Diagnosis:
    """Check that there are keys that look like keys. None is shown, not even in part.

    Args:
        keys: of Gemini, or of another service.
        service: whose keys they are, for the words of the finding.
    """
    if not keys:
        return Diagnosis.warning(
            "No Gemini key is set: videos are watched on this machine alone.",
            f"Get one at {KEY_PAGE}, then run `vr init` or set GEMINI_API_KEY.",
        )
    for number, key in enumerate(keys, 1):
        if wrong := _wrong_with(key):
            return Diagnosis.fault(
                f"{service} key {number} of {len(keys)} {wrong}.",
                f"Copy it again from {KEY_PAGE} and set GEMINI_API_KEY."
                if service == GEMINI.title()
                else "Copy it again.",
            )
    if len(set(keys)) < len(keys):
        return Diagnosis.warning("A Gemini key is set twice.", "Remove one of the two.")
    return Diagnosis.ok(f"Set: {len(keys)}; not tried, for nothing here asks the network.")


def examine_address(address: str) -> Diagnosis:
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
    if parts.scheme == "http" and not is_here(host):
        return Diagnosis.warning(f"Keys and videos go to {host} unencrypted.", "Use https.")
    return Diagnosis.ok(f"{parts.scheme}://{host}")


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


def is_here(host: str) -> bool:
    """True for this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
