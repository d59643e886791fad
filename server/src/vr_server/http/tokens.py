"""Bearer tokens of the HTTP transport, each of one principal."""

from __future__ import annotations

from fastmcp.server.auth import AccessToken, TokenVerifier
from vr_kernel import Access


class Tokens(TokenVerifier):
    """The tokens of a configuration, in the form that FastMCP asks for.

    Args:
        access: finds the principal of a token.

    Raises:
        VrError: as `Access.principals`.
    """

    def __init__(self, access: Access) -> None:
        super().__init__()
        access.principals()  # a faulty section is refused before the first request
        self._access = access

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the identity for a token; None for an unknown token."""
        principal = self._access.principal_of(token)
        return None if principal is None else AccessToken(token="", client_id=principal, scopes=[])
