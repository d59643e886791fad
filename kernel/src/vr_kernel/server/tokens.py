"""Bearer tokens of the HTTP transport: each names a principal."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from fastmcp.server.auth import AccessToken, TokenVerifier
from pydantic import SecretStr

from vr_kernel.access import digest_of, principals_of


class Tokens(TokenVerifier):
    """Knows tokens by their digests; looking one up takes the same time whatever it is.

    Args:
        given: `token`, which belongs to the owner, or `name:token`.
        owner: the principal of a token without a name.

    Raises:
        VrError: as `principals_of`.
    """

    def __init__(self, given: Sequence[SecretStr], owner: str) -> None:
        super().__init__()
        self._principals = principals_of(given, owner)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose token it is; None when it is nobody's."""
        asked = digest_of(token)
        found = [
            who for known, who in self._principals.items() if hmac.compare_digest(known, asked)
        ]
        return AccessToken(token="", client_id=found[0], scopes=[]) if found else None
