"""The table of special addresses, by itself and against Python's."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from vr_kernel.errors import Code, VrError
from vr_kernel.http import Url, check_url
from vr_kernel.http.addresses import SPECIAL_RANGES, special_range
from vr_kernel.http.network import CheckedNetwork
from web_service import Names, Network

# Where Python calls an address global, some versions or all, and the table does not.
DIFFERENCES = [
    ip_network(block)
    for block in (
        "168.63.129.16/32",  # public by the registry, and Azure's machines alone reach it
        "192.0.0.0/24",  # the NAT64 and anycast addresses in it answer nearby
        "192.88.99.0/24",  # relays of 6to4, deprecated by RFC 7526
        "224.0.0.0/4", "ff00::/8",  # `is_global` says nothing of multicast
        "::ffff:0:0/96",  # from 3.13 on it is judged by the IPv4 address inside
        "64:ff9b:1::/48", "100:0:0:1::/64", "2001::/23", "2002::/16", "3fff::/20", "5f00::/16",
        "fec0::/10",  # newer, or in no registry
    )
]  # fmt: skip
# IANA gives out nothing else, Python does not know that: 4000::1 is global to it.
UNICAST = (ip_network("2000::/3"), ip_network("64:ff9b::/96"))
TRANSLATED = ip_network("64:ff9b::/96")


def _inside(network: object) -> st.SearchStrategy[str]:
    return st.ip_addresses(network=str(network)).map(str)


v4 = st.ip_addresses(v=4).map(str)
special_blocks = [block for block in SPECIAL_RANGES if block.reach != "global"]
near_special = st.sampled_from(SPECIAL_RANGES).flatmap(lambda block: _inside(block.network))
edges = st.sampled_from(SPECIAL_RANGES).flatmap(
    lambda block: st.sampled_from(
        [int(block.network[0]) - 1, int(block.network[0]), int(block.network[-1]) + 1]
    ).map(lambda value: _spelled(value, block.network.version))
)
addresses = st.one_of(v4, _inside("2000::/3"), near_special, edges)


def _spelled(value: int, version: int) -> str:
    made = IPv4Address(value % 2**32) if version == 4 else IPv6Address(value % 2**128)
    return str(made)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
        "168.63.129.16", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.9", "192.0.0.192",
        "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1",
        "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808",
        "100::1", "100:0:0:1::1", "200::1", "2001::1", "2001:0:7f00:1::", "2001:1::1",
        "2001:2::1", "2001:10::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1",
        "2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1", "3fff::1", "4000::1",
        "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    ],
)  # fmt: skip
def test_special(address: str) -> None:
    assert special_range(address) is not None


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0",
        "192.0.1.0", "192.31.196.1", "192.175.48.1", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2000::", "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111",
        "2620:4f:8000::1", "2a00:1450:4001::1", "64:ff9b::808:808", "2606:4700::5efe:8.8.8.8",
    ],
)  # fmt: skip
def test_public(address: str) -> None:
    assert special_range(address) is None


@pytest.mark.parametrize("spelling", ["", "localhost", "127.1", "0177.0.0.1", "0x7f000001", "1"])
def test_other_spellings_are_no_address(spelling: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        special_range(spelling)


def test_the_smallest_block_counts() -> None:
    found = special_range("100.100.100.200")
    assert found is not None
    assert (found.purpose, found.reach) == ("cloud metadata", "never")


@given(addresses)
@example("4000::1")
@example("64:ff9b::a00:1")
def test_it_agrees_with_python_but_for_the_listed_differences(address: str) -> None:
    parsed = ip_address(address)
    ours = special_range(address) is None
    if any(parsed in block for block in DIFFERENCES):
        assert not ours or parsed in ip_network("2001::/23")
    elif isinstance(parsed, IPv6Address) and not any(parsed in block for block in UNICAST):
        assert not ours
    elif embedded := _embedded(parsed):
        assert ours == (parsed.is_global and special_range(embedded) is None)
    else:
        assert ours == parsed.is_global


def _embedded(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return ""
    isatap = f"{int(address):032x}"[16:24] in ("00005efe", "02005efe")
    return str(IPv4Address(int(address) % 2**32)) if isatap or address in TRANSLATED else ""


def _v4_spellings(value: int) -> list[str]:
    parts = [value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255]
    dotted = ".".join(map(str, parts))
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in dotted)
    return [
        dotted, f"{dotted}.", str(value), hex(value), hex(value).upper(),
        f"0{value:o}", ".".join(hex(part) for part in parts),
        ".".join(f"0{part:o}" for part in parts), ".".join(f"{part:03}" for part in parts),
        f"{parts[0]}.{value & 0xFFFFFF}", f"{parts[0]}.{parts[1]}.{value & 0xFFFF}", wide,
        dotted.replace(".", "\u3002"), dotted.replace(".", "\uff0e"), dotted.replace(".", "%2e"),
        f"[::ffff:{dotted}]", f"[::{dotted}]", f"[64:ff9b::{dotted}]",
        f"[2002:{value >> 16:x}:{value & 0xFFFF:x}::1]", f"[2606:4700::5efe:{dotted}]",
    ]  # fmt: skip


def _v6_spellings(address: IPv6Address) -> list[str]:
    return [f"[{address}]", f"[{address.exploded}]", f"[{str(address).upper()}]",
            f"[{address}%25eth0]", f"[{address}%eth0]"]  # fmt: skip


def _checked(url: str) -> Url | None:
    try:
        return check_url(url)
    except VrError:
        return None


@given(st.one_of(v4, near_special).map(ip_address))
def test_no_spelling_of_a_special_address_is_accepted(address: IPv4Address | IPv6Address) -> None:
    if isinstance(address, IPv6Address):
        spellings = _v6_spellings(address)
    else:
        spellings = _v4_spellings(int(address))
    public = special_range(str(address)) is None
    for spelling in spellings:
        found = _checked(f"http://{spelling}/")
        assert found is None or (public and special_range(found.host) is None)
    if public:
        assert check_url(f"http://{spellings[0]}/").host == str(address)


@given(st.sampled_from(special_blocks).flatmap(lambda block: _inside(block.network)))
def test_a_name_with_a_special_address_is_never_connected_to(address: str) -> None:
    if special_range(address) is None:
        return
    for answer in ([address], ["8.8.8.8", address], [address, "2606:4700::1111"]):
        network = Network()
        checked = CheckedNetwork(Names({"a.example": [answer]}), network, local_allowed=False)
        with pytest.raises(VrError) as caught:
            asyncio.run(checked.connect_tcp("a.example", 80))
        assert caught.value.code is Code.NOT_ALLOWED
        assert network.dialled == []


@pytest.mark.parametrize("answer", ["", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]"])
async def test_an_answer_that_is_no_address_is_refused(answer: str) -> None:
    network = Network()
    checked = CheckedNetwork(Names({"a.example": [[answer]]}), network, local_allowed=True)
    with pytest.raises(VrError, match="no public host"):
        await checked.connect_tcp("a.example", 80)
    assert network.dialled == []
