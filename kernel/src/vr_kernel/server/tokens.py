"""Bearer tokens of the HTTP transport: each names a principal."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from fastmcp.server.auth import AccessToken, TokenVerifier
from pydantic import SecretStr

from vr_kernel.config_sources import config_error

SHORTEST = 16
"""Least characters of a token; a shorter one can be guessed."""


class Tokens(TokenVerifier):
    """Knows tokens by their digests; looking one up takes the same time whatever it is.

    Args:
        given: `token`, which belongs to the owner, or `name:token`.
        owner: the principal of a token without a name.

    Raises:
        VrError: INVALID_INPUT, category CONFIG_INVALID, for a token that is too short or given
            to two principals.
    """

    def __init__(self, given: Sequence[SecretStr], owner: str) -> None:
        super().__init__()
        self._principals: dict[bytes, str] = {}
        for secret in given:
            name, colon, token = secret.get_secret_value().rpartition(":")
            if len(token) < SHORTEST:
                raise _unusable(f"is shorter than {SHORTEST} characters")
            if self._principals.setdefault(_digest(token), name if colon else owner) != (
                name if colon else owner
            ):
                raise _unusable("is given to two principals")

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose token it is; None when it is nobody's."""
        asked = _digest(token)
        found = [
            who for known, who in self._principals.items() if hmac.compare_digest(known, asked)
        ]
        return AccessToken(token="", client_id=found[0], scopes=[]) if found else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _unusable(why: str) -> Exception:
    return config_error(
        f"A token in VR_HTTP_TOKEN or [kernel.serve] tokens {why}.",
        "Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
    )
