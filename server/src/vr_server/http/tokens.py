"""Bearer tokens of the HTTP transport: each names a principal."""

from __future__ import annotations

import hmac

from fastmcp.server.auth import AccessToken, TokenVerifier
from vr_kernel import Access, digest_of


class Tokens(TokenVerifier):
    """Knows tokens by their digests; looking one up takes the same time whatever it is.

    Args:
        access: says whose they are.

    Raises:
        VrError: as `Access.principals`.
    """

    def __init__(self, access: Access) -> None:
        super().__init__()
        self._principals = access.principals()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose token it is; None when it is nobody's."""
        asked = digest_of(token)
        found = [
            who for known, who in self._principals.items() if hmac.compare_digest(known, asked)
        ]
        return AccessToken(token="", client_id=found[0], scopes=[]) if found else None
