"""Who may ask over HTTP, by the tokens in the settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pydantic import SecretStr

from vr_kernel.config.sources import config_error

SHORTEST = 16
"""Least characters of a token; a shorter one can be guessed."""


def principals_of(given: Sequence[SecretStr], owner: str) -> dict[bytes, str]:
    """The principals of tokens, by the digests of these.

    Args:
        given: `token`, which belongs to the owner, or `name:token`.
        owner: the principal of a token without a name.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID, for a token that is too short or given
            to two principals.
    """
    principals: dict[bytes, str] = {}
    for secret in given:
        name, colon, token = secret.get_secret_value().rpartition(":")
        if len(token) < SHORTEST:
            raise _unusable(f"is shorter than {SHORTEST} characters")
        who = name if colon else owner
        if principals.setdefault(digest_of(token), who) != who:
            raise _unusable("is given to two principals")
    return principals


def digest_of(token: str) -> bytes:
    """What a token is known by."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _unusable(why: str) -> Exception:
    return config_error(
        f"A token in VR_HTTP_TOKEN or [kernel.serve] tokens {why}.",
        "Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
    )
