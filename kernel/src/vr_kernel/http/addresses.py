"""Addresses that are no public host: our own table, because `ipaddress` differs by version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Literal

Reach = Literal["never", "local", "global"]
"""`local`: reached only as a host that the user allowed by name. `global`: an exception."""


@dataclass(frozen=True, slots=True)
class SpecialRange:
    """A block of addresses that is set aside: its purpose, and whether it may be reached."""

    network: IPv4Network | IPv6Network
    purpose: str
    reach: Reach = "never"


# Source: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, RFC 8190) as of
# 2024-10-22, with 100:0:0:1::/64 of RFC 9780 (May 2025); multicast and site-local addresses of
# the IANA address space registries. Anycast addresses that answer at the nearest gateway
# (192.0.0.9, 192.0.0.10, 2001:1::1 to ::3) are not exempt from their block, though the
# registries call them global. The /32 and /128 marked "cloud" are in no
# registry; Azure's is in Microsoft Learn, "What is IP address 168.63.129.16?".
_TABLE: tuple[tuple[str, str, Reach], ...] = (
    ("0.0.0.0/8", "this network", "never"),
    ("10.0.0.0/8", "private use", "local"),
    ("100.64.0.0/10", "shared address space", "local"),
    ("100.100.100.200/32", "cloud metadata", "never"),
    ("127.0.0.0/8", "loopback", "local"),
    ("168.63.129.16/32", "cloud platform", "never"),
    ("169.254.0.0/16", "link-local, cloud metadata", "never"),
    ("172.16.0.0/12", "private use", "local"),
    ("192.0.0.0/24", "protocol assignments", "never"),
    ("192.0.2.0/24", "documentation", "never"),
    ("192.88.99.0/24", "6to4 relays", "never"),
    ("192.168.0.0/16", "private use", "local"),
    ("198.18.0.0/15", "benchmarking", "never"),
    ("198.51.100.0/24", "documentation", "never"),
    ("203.0.113.0/24", "documentation", "never"),
    ("224.0.0.0/4", "multicast", "never"),
    ("240.0.0.0/4", "reserved", "never"),
    ("255.255.255.255/32", "broadcast", "never"),
    ("::/0", "not assigned to hosts", "never"),
    ("2000::/3", "global unicast", "global"),
    ("::/96", "IPv4-compatible", "never"),
    ("::/128", "unspecified", "never"),
    ("::1/128", "loopback", "local"),
    ("::ffff:0:0/96", "IPv4-mapped", "never"),
    ("64:ff9b::/96", "IPv4 behind a translator", "global"),
    ("64:ff9b:1::/48", "IPv4 behind a local translator", "never"),
    ("100::/64", "discard", "never"),
    ("100:0:0:1::/64", "dummy prefix", "never"),
    ("2001::/23", "protocol assignments", "never"),
    ("2001::/32", "Teredo", "never"),
    ("2001:2::/48", "benchmarking", "never"),
    ("2001:3::/32", "AMT", "global"),
    ("2001:4:112::/48", "AS112", "global"),
    ("2001:10::/28", "ORCHID", "never"),
    ("2001:20::/28", "ORCHIDv2", "global"),
    ("2001:30::/28", "drone identifiers", "global"),
    ("2001:db8::/32", "documentation", "never"),
    ("2002::/16", "6to4", "never"),
    ("3fff::/20", "documentation", "never"),
    ("5f00::/16", "segment routing", "never"),
    ("fc00::/7", "unique local", "local"),
    ("fd00:ec2::254/128", "cloud metadata", "never"),
    ("fe80::/10", "link-local", "never"),
    ("fec0::/10", "site-local", "never"),
    ("ff00::/8", "multicast", "never"),
)
SPECIAL_RANGES = tuple(SpecialRange(ip_network(net), why, reach) for net, why, reach in _TABLE)
"""The table. If several blocks contain an address, the smallest counts."""

_TRANSLATED = IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def special_range(address: str) -> SpecialRange | None:
    """The block that keeps an address from being a public host; None for a public host.

    An IPv4 address inside an IPv6 one (NAT64, ISATAP) is looked up too.

    Raises:
        ValueError: it is no IPv4 or IPv6 address in its usual spelling.
    """
    found = (_block_of(part) for part in _with_embedded(ip_address(address)))
    return next((block for block in found if block is not None), None)


def _block_of(address: IPv4Address | IPv6Address) -> SpecialRange | None:
    blocks = [block for block in SPECIAL_RANGES if address in block.network]
    smallest = max(blocks, key=lambda block: block.network.prefixlen, default=None)
    return None if smallest is None or smallest.reach == "global" else smallest


def _with_embedded(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """The address, and the IPv4 address embedded in its last 32 bits (RFC 6052, RFC 5214)."""
    yield address
    if isinstance(address, IPv6Address):
        value = int(address)
        if address in _TRANSLATED or (value >> 32) & 0xFFFF_FFFF in _ISATAP:
            yield IPv4Address(value & 0xFFFF_FFFF)
