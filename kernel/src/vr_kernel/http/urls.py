"""Addresses of pages, checked as text before the network is used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from vr_kernel.config.settings import HttpSettings
from vr_kernel.http.errors import invalid, no_local_host, not_allowed
from vr_kernel.text.secrets import is_secret_parameter

URL_LIMIT = 2048
"""Longest address in characters."""
SHOWN = 200
PORTS = {"http": 80, "https": 443}
LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa", "lan")
"""Names that mean this machine or its network (RFC 6761, 6762, 8375; ICANN 2024 on internal); `lan`
is what home routers use."""
_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]@:]+)(?::[0-9]{0,5})?")
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER_LAST = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of an address as it is sent: ASCII, lower-case host, no fragment."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port, the port left out when it is the scheme's own: the header `Host`."""
        return self.name if self.port == PORTS[self.scheme] else f"{self.name}:{self.port}"

    @property
    def name(self) -> str:
        """The host, an IPv6 address in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: only one origin may see the caller's headers."""
        return self.scheme, self.host, self.port

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def check_url(url: str, settings: HttpSettings | None = None) -> Url:
    """Parse an address, and check as far as its text allows that it may be fetched.

    The IP addresses of a host name are checked when the connection is made.

    Args:
        url: an absolute address.
        settings: ports and local hosts that are allowed as well; the defaults when left out.

    Raises:
        VrError: INVALID_INPUT, category URL_INVALID: it is malformed, longer than 2,048
            characters, or spells an IP address in an unusual way. NOT_ALLOWED, category
            URL_NOT_ALLOWED: another scheme than http and https, a user name, another port,
            a host that is not public.
    """
    rules = settings or HttpSettings()
    _check_text(url)
    _check_authority(url)
    parsed = _parse(url)
    _check_port(parsed, rules)
    _check_host(parsed, allowed=is_allowed_host(parsed, rules))
    return parsed


def is_allowed_host(url: Url, settings: HttpSettings) -> bool:
    """True when the user allowed this host by name, local or not."""
    return not {url.name, f"{url.name}:{url.port}"}.isdisjoint(settings.allowed_hosts)


def redact_url(url: str) -> str:
    """An address fit for a message or a log: no user name, fragment or secret, one line."""
    try:
        parts = urlsplit(url)
        place = parts.netloc.rpartition("@")[2] + parts.path
        query = "&".join(_redact(pair) for pair in parts.query.split("&")) if parts.query else ""
    except ValueError:
        return "[address]"
    shown = f"{parts.scheme}://{place}{'?' if query else ''}{query}"
    shown = "".join(char for char in shown if char.isprintable())
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def _redact(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        return "***"
    return f"{name}=***" if is_secret_parameter(name, value) else pair


def _check_text(url: str) -> None:
    if len(url) > URL_LIMIT:
        raise invalid(f"it is longer than {URL_LIMIT:,} characters")
    if any(char.isspace() or not char.isprintable() for char in url):
        raise invalid("it holds a space, or a character that cannot be seen", "Write %20 instead.")
    if "\\" in url:
        raise invalid("it holds a backslash", "Write / or %5C instead.")


def _check_authority(url: str) -> None:
    scheme, colon, rest = url.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        raise invalid("it does not begin with http:// or https://")
    if scheme.lower() not in PORTS:
        raise not_allowed("it is neither http nor https", "Give an http or https address.")
    if not rest.startswith("//"):
        raise invalid("two slashes are missing after the scheme")
    authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0]
    if "@" in authority:
        raise not_allowed("it holds a user name or an @ before the host", "Leave that out.")
    if not _AUTHORITY.fullmatch(authority):
        raise invalid("its host or port is missing or malformed")


def _parse(url: str) -> Url:
    import httpx2

    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise invalid("its host or port is malformed") from None
    host = parsed.raw_host.decode("ascii").removesuffix(".")
    if ":" in host:
        host = str(ip_address(host))
    port = PORTS[parsed.scheme] if parsed.port is None else parsed.port
    return Url(parsed.scheme, host, port, parsed.raw_path.decode("ascii"))


def _check_port(url: Url, settings: HttpSettings) -> None:
    usual = url.port in {*PORTS.values(), *settings.extra_ports}
    if not usual and f"{url.name}:{url.port}" not in settings.allowed_hosts:
        raise not_allowed(
            f"its port is {url.port}",
            "Allow the port with extra_ports in [kernel.http], or this host alone with"
            f' allowed_hosts = ["{url.name}:{url.port}"].',
        )


def _check_host(url: Url, *, allowed: bool) -> None:
    if ":" in url.host or _NUMBER_LAST.fullmatch(url.host):
        _check_literal(url.host, allowed=allowed)
    elif not _HOST.fullmatch(url.host):
        raise invalid("its host name is malformed")
    elif not allowed and _is_local_name(url.host):
        raise no_local_host("it")


def _is_local_name(host: str) -> bool:
    """True for a name that means a local network; one without a dot is found there alone."""
    return "." not in host or any(f".{host}".endswith(f".{name}") for name in LOCAL_NAMES)


def _check_literal(host: str, *, allowed: bool) -> None:
    try:
        from vr_kernel.http.addresses import special_range

        block = special_range(host)
    except ValueError:
        raise invalid(
            "an IP address is spelled unusually", "Write it as four decimal numbers."
        ) from None
    if block is not None and not (allowed and block.reach == "local"):
        raise no_local_host(f"an address of the range {block.network} ({block.purpose})")
