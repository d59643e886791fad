"""Addresses of Weaviate servers: the forms of their URLs."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from vr_kernel import Code, VrError

CLOUD = (".weaviate.network", ".weaviate.cloud")
"""Suffixes of the hosts of Weaviate Cloud."""
LOCAL = ("localhost", "127.0.0.1", "::1")
LOCAL_PORT = 8080
"""The default port of a server."""
_HINT = "Write it as http://localhost:8080 or https://name.weaviate.cloud."


@dataclass(frozen=True, slots=True)
class Address:
    """Host and ports of a server's two services. `secure` is for both."""

    host: str
    port: int
    grpc_host: str
    grpc_port: int
    secure: bool

    @property
    def shown(self) -> str:
        """The address as a person writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"


def read_address(url: str, grpc_port: int) -> Address:
    """The address that a URL names; `grpc_port` is used for servers outside the cloud.

    Raises:
        VrError: INVALID_INPUT for an invalid address.
    """
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise _bad(str(error)) from None
    if parts.scheme not in {"http", "https"}:
        raise _bad(f"its scheme is {parts.scheme}")
    if not host or any(sign.isspace() for sign in host):
        raise _bad("it names no host")
    if parts.username or parts.password:
        raise _bad("it holds a name or a password", "Give the key as WEAVIATE_API_KEY.")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise _bad("it goes on after the host", "A server has to stand at the root of its host.")
    if host.endswith(CLOUD):
        return Address(host, 443, _cloud_grpc(host), 443, secure=True)
    secure = parts.scheme == "https"
    usual = 443 if secure else LOCAL_PORT if host in LOCAL else 80
    port = usual if port is None else port
    if port == grpc_port:
        raise _bad(
            f"its port {port} is that of its gRPC service, too",
            "Set WEAVIATE_GRPC_PORT to the other of its two ports; it is 50051 where nobody chose.",
        )
    return Address(host, port, host, grpc_port, secure)


def _cloud_grpc(host: str) -> str:
    # As in weaviate-client: older clusters have a subdomain, newer ones a prefix.
    name, _, domain = host.partition(".")
    return f"{name}.grpc.{domain}" if host.endswith(".weaviate.network") else f"grpc-{host}"


def _bad(reason: str, hint: str = _HINT) -> VrError:
    return VrError(
        f"WEAVIATE_URL is no address of a server: {reason}.",
        Code.INVALID_INPUT,
        category="CONFIG_INVALID",
        hint=hint,
    )
