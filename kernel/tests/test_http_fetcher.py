"""Fetching from real servers: what comes back, and that no special address is ever reached."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from vr_kernel.errors import Code, VrError
from vr_kernel.http.addresses import SPECIAL_RANGES
from web_service import (
    PUBLIC,
    PUBLIC_V6,
    Names,
    Network,
    Site,
    at,
    fetcher,
    leads_to,
    reply,
)

SPECIAL = [str(block.network[0]) for block in SPECIAL_RANGES if block.reach != "global"]


@pytest.fixture
async def trap() -> AsyncIterator[Site]:
    """A site of this machine, which nobody may reach."""
    async with Site({"/": reply(b"secret")}).serving() as site:
        yield site


async def _refused(work: object, category: str) -> VrError:
    with pytest.raises(VrError) as caught:
        await work  # type: ignore[misc]
    assert caught.value.category == category, caught.value.message
    return caught.value


async def test_a_page() -> None:
    page = reply(
        "h\u00e9".encode("latin-1"), headers={"Content-Type": 'Text/HTML; Charset="ISO-8859-1"'}
    )
    async with Site({"/a?b=1": page}).serving() as site:
        found = await at(site).fetch("http://Example.com/a?b=1#c", accept=["text/*"])
    assert found.url == "http://example.com/a?b=1"
    assert (found.status, found.mime, found.charset) == (200, "text/html", "iso-8859-1")
    assert (found.text, found.redirects) == ("h\u00e9", ())
    assert found.headers["content-length"] == "2"
    sent = site.headers()
    assert sent["host"] == "example.com"
    assert sent["accept"] == "text/*"
    assert "cookie" not in sent


async def test_the_charset_may_be_unknown() -> None:
    page = reply("h\u00e9".encode(), headers={"Content-Type": "text/plain; charset=klingon"})
    async with Site({"/": page}).serving() as site:
        assert (await at(site).fetch("http://example.com/")).text == "h\u00e9"


@pytest.mark.parametrize("address", SPECIAL)
async def test_a_name_of_a_special_address(address: str) -> None:
    network = Network()
    names = Names({"a.example": [[address]]})
    error = await _refused(fetcher(names, network).fetch("http://a.example/"), "URL_NOT_ALLOWED")
    assert error.code is Code.NOT_ALLOWED
    assert network.dialled == []


@pytest.mark.parametrize(
    "answer",
    [
        ["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC_V6, PUBLIC, "::1"],
        ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["0.0.0.0"],
    ],
)  # fmt: skip
async def test_one_special_address_refuses_all(trap: Site, answer: list[str]) -> None:
    network = Network()
    made = fetcher(Names({"a.example": [answer]}), network, extra_ports=[trap.port])
    await _refused(made.fetch(f"http://a.example:{trap.port}/"), "URL_NOT_ALLOWED")
    assert (network.dialled, trap.connections) == ([], 0)


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/", "//127.0.0.1:{port}/", "http://localhost:{port}/",
        "http://2130706433:{port}/", "http://0x7f.1:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
        "http://inner.example:{port}/", "http://u@inner.example:{port}/", "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/", "javascript:alert(1)", "http://127.0.0.1:{port}\\@a.example/",
        "http:\\\\127.0.0.1:{port}\\", "\thttp://127.0.0.1:{port}/", "http://[::1",
    ],
)  # fmt: skip
async def test_a_page_may_not_lead_there(trap: Site, location: str) -> None:
    names = Names({"inner.example": [["127.0.0.1"]]})
    async with Site({"/": leads_to(location.format(port=trap.port))}).serving() as site:
        network = Network({PUBLIC: site})
        made = fetcher(names, network, extra_ports=[trap.port])
        with pytest.raises(VrError) as caught:
            await made.fetch("http://a.example/?token=sesame")
    assert caught.value.category in ("URL_INVALID", "URL_NOT_ALLOWED")
    assert "sesame" not in caught.value.message
    assert (network.dialled, trap.connections) == ([PUBLIC], 0)


async def test_a_name_that_answers_differently_the_next_time(trap: Site) -> None:
    names = Names({"a.example": [[PUBLIC], ["127.0.0.1"]]})
    async with Site({"/": reply()}).serving() as site:
        network = Network({PUBLIC: site})
        made = fetcher(names, network, extra_ports=[trap.port])
        assert (await made.fetch(f"http://a.example:{trap.port}/")).content == b"hello"
        await _refused(made.fetch(f"http://a.example:{trap.port}/"), "URL_NOT_ALLOWED")
        assert names.asked == ["a.example"] * 2
        assert (network.dialled, site.connections, trap.connections) == ([PUBLIC], 1, 0)


SECOND_LOOKS = [
    ["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1"], ["::1%lo"], ["fe80::1%eth0"], ["::ffff:10.0.0.1"],
    ["64:ff9b::a00:1"], ["64:ff9b::7f00:1"], ["2002:7f00:1::"], ["2606:4700::5efe:127.0.0.1"],
    ["fd00:ec2::254"], ["169.254.169.254"], [PUBLIC_V6, "192.168.1.1"],
]  # fmt: skip


@pytest.mark.parametrize("second", SECOND_LOOKS, ids=str)
@pytest.mark.parametrize("way", ["again", "redirect", "way back", "resumed", "after a failure"])
async def test_a_name_is_looked_at_anew_each_time_and_connected_to_as_it_was_checked(
    trap: Site, way: str, second: list[str], unused_tcp_port: int
) -> None:
    """The first answer is public, the second is not: whatever leads to it, nobody is dialled."""
    names = Names({"a.example": [[PUBLIC], second], "b.example": [[PUBLIC]]})
    pages = {
        "/": reply(),
        "/redirect": leads_to(f"http://a.example:{trap.port}/"),
        "/there": leads_to(f"http://b.example:{trap.port}/redirect"),
    }
    async with Site(pages).serving() as site:
        gone = Site({})
        gone.port = unused_tcp_port
        network = Network({PUBLIC: gone if way == "after a failure" else site})
        made = fetcher(names, network, extra_ports=[trap.port])
        base = f"http://a.example:{trap.port}"
        first = {"redirect": "/redirect", "way back": "/there"}.get(way, "/")
        if way == "after a failure":
            await _refused(made.fetch(base), "NETWORK_ERROR")
        elif first == "/":
            assert (await made.fetch(base)).content == b"hello"
        if way == "resumed":
            with pytest.raises(VrError) as caught:
                async with made.open(base, offset=2):
                    pass
            assert caught.value.category == "URL_NOT_ALLOWED"
        else:
            await _refused(made.fetch(base + first), "URL_NOT_ALLOWED")
    assert set(network.dialled) == {PUBLIC}
    assert names.asked.count("a.example") == 2
    assert trap.connections == 0


async def test_a_redirect_to_itself_asks_for_the_name_anew() -> None:
    names = Names({"a.example": [[PUBLIC], ["127.0.0.1"]]})
    async with Site({"/": leads_to("/b"), "/b": reply()}).serving() as site:
        await _refused(at(site, names).fetch("http://a.example/"), "URL_NOT_ALLOWED")
        assert (site.connections, len(site.requests)) == (1, 1)


async def test_every_page_is_asked_for_on_a_connection_of_its_own() -> None:
    """A connection that is kept would be one whose name was checked long ago."""
    names = Names()
    async with Site({"/": reply(headers={"Connection": "keep-alive"})}).serving() as site:
        made = at(site, names)
        for _ in range(3):
            await made.fetch("http://a.example/")
        assert (site.connections, len(names.asked)) == (3, 3)
        assert site.headers()["connection"] == "close"


@pytest.mark.parametrize("host", [PUBLIC, f"[{PUBLIC_V6}]"])
async def test_an_address_is_no_name(host: str) -> None:
    names = Names()
    async with Site({"/": reply()}).serving() as site:
        assert (await at(site, names).fetch(f"http://{host}/")).content == b"hello"
        assert site.headers()["host"] == host
    assert names.asked == []


async def test_an_address_that_does_not_answer_is_passed_over(unused_tcp_port: int) -> None:
    names = Names({"a.example": [["2606:4700::1", "2606:4700::2", PUBLIC]]})
    closed = Site({})
    closed.port = unused_tcp_port
    async with Site({"/": reply()}).serving() as site:
        network = Network({"2606:4700::1": closed, "2606:4700::2": closed, PUBLIC: site})
        assert (await fetcher(names, network).fetch("http://a.example/")).status == 200
    assert network.dialled == ["2606:4700::1", PUBLIC]


async def test_hosts_of_the_user(trap: Site) -> None:
    named = fetcher(Names({"localhost": [["127.0.0.1"]]}), allowed_hosts=[f"localhost:{trap.port}"])
    assert (await named.fetch(f"http://localhost:{trap.port}/")).content == b"secret"
    await _refused(named.fetch(f"http://127.0.0.1:{trap.port}/"), "URL_NOT_ALLOWED")


async def test_the_name_service_of_this_machine(trap: Site) -> None:
    from vr_kernel.config.settings import HttpSettings
    from vr_kernel.http import Fetcher
    from vr_kernel.log import Log

    settings = HttpSettings(allowed_hosts=[f"localhost:{trap.port}"])
    named = Fetcher(settings, log=Log("error", "console"))
    assert (await named.fetch(f"http://localhost:{trap.port}/")).content == b"secret"


async def test_an_allowed_host_may_not_turn_into_cloud_metadata() -> None:
    network = Network()
    names = Names({"intranet.example": [["169.254.169.254"]]})
    made = fetcher(names, network, allowed_hosts=["intranet.example"])
    await _refused(made.fetch("http://intranet.example/"), "URL_NOT_ALLOWED")
    assert network.dialled == []


async def test_a_public_page_may_not_lead_to_a_host_of_the_user(trap: Site) -> None:
    inner = f"http://localhost:{trap.port}/"
    names = Names({"localhost": [["127.0.0.1"]]})
    async with Site({"/": leads_to(inner)}).serving() as site:
        made = at(site, names, allowed_hosts=[f"localhost:{trap.port}"])
        error = await _refused(made.fetch("http://a.example/"), "URL_NOT_ALLOWED")
        assert "redirects" in error.message
        trap.pages["/on"] = leads_to("/")
        assert (await made.fetch(f"{inner}on")).content == b"secret"
        trap.pages["/out"] = leads_to("http://a.example/")
        await _refused(made.fetch(f"{inner}out"), "URL_NOT_ALLOWED")
    assert len(trap.requests) == 3


async def test_proxies_of_the_environment_are_not_asked(
    trap: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
    async with Site({"/": reply()}).serving() as site:
        assert (await at(site).fetch("http://a.example/")).content == b"hello"
    assert trap.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects(status: int) -> None:
    pages = {
        "/": leads_to("b?c=1 2#frag", status),
        "/b?c=1%202": leads_to("//other.example/\u00e9".encode().decode("latin-1"), status),
        "/%C3%A9": reply(),
    }
    async with Site(pages).serving() as site:
        found = await at(site).fetch("http://a.example/")
    assert found.url == "http://other.example/%C3%A9"
    assert found.redirects == ("http://a.example/", "http://a.example/b?c=1%202")


async def test_redirects_end() -> None:
    async with Site({"/": leads_to("/b"), "/b": leads_to("/")}).serving() as site:
        error = await _refused(at(site).fetch("http://a.example/"), "TOO_MANY_REDIRECTS")
        assert not error.retryable
        assert len(site.requests) == 6


async def test_five_redirects_are_followed() -> None:
    pages = {f"/{n}": leads_to(f"/{n + 1}") for n in range(5)} | {"/5": reply()}
    async with Site(pages).serving() as site:
        assert len((await at(site).fetch("http://a.example/0")).redirects) == 5


async def test_headers_of_the_caller_stay_with_the_first_host() -> None:
    async with Site(
        {"/": leads_to("/b"), "/b": leads_to("http://other.example/c"), "/c": reply()}
    ).serving() as site:
        headers = {"Authorization": "Bearer x", "user-agent": "mine"}
        await at(site).fetch("http://a.example/", headers=headers)
        seen = [site.headers(n).get("authorization") for n in range(3)]
        assert seen == ["Bearer x", "Bearer x", None]
        assert [site.headers(n)["user-agent"] == "mine" for n in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "127.0.0.1"}, {"a": "b\r\nHost: evil"}, {"a\r\nb": "c"}, {"a b": "c"},
        {"Transfer-Encoding": "chunked"}, {"range": "bytes=1-"}, {"a": "\u00e9"}, {"": "c"},
        {"Proxy-Authorization": "x"},
    ],
)  # fmt: skip
async def test_headers_that_cannot_be_sent(headers: dict[str, str]) -> None:
    network = Network()
    made = fetcher(network=network)
    error = await _refused(made.fetch("http://a.example/", headers=headers), "HEADER_INVALID")
    assert "evil" not in error.message
    assert network.dialled == []


@pytest.mark.parametrize(
    ("status", "code", "category", "retryable"),
    [
        (400, Code.UNAVAILABLE, "HTTP_STATUS", False),
        (401, Code.NOT_ALLOWED, "HTTP_FORBIDDEN", False),
        (403, Code.NOT_ALLOWED, "HTTP_FORBIDDEN", False),
        (404, Code.NOT_FOUND, "HTTP_NOT_FOUND", False),
        (410, Code.NOT_FOUND, "HTTP_NOT_FOUND", False),
        (429, Code.QUOTA, "HTTP_TOO_MANY_REQUESTS", True),
        (500, Code.UNAVAILABLE, "HTTP_SERVER_ERROR", True),
        (503, Code.UNAVAILABLE, "HTTP_SERVER_ERROR", True),
        (304, Code.UNAVAILABLE, "HTTP_STATUS", False),
        (302, Code.UNAVAILABLE, "HTTP_STATUS", False),
    ],
)
async def test_statuses(status: int, code: Code, category: str, *, retryable: bool) -> None:
    page = reply(b"", status, {"Retry-After": "7"})
    async with Site({"/?key=sesame": page}).serving() as site:
        error = await _refused(at(site).fetch("http://a.example/?key=sesame"), category)
    assert (error.code, error.retryable) == (code, retryable)
    assert error.retry_after == (7 if retryable else None)
    assert "sesame" not in error.message + error.hint


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("0", 0, 0), ("99999999999", 86_400, 86_400), ("soon", None, None), ("-5", None, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0), ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400, 86_400),
        ("Wed, 21 Oct 2015 07:28:00", None, None), ("\u0663", None, None),
    ],
)  # fmt: skip
async def test_when_to_try_again(header: str, least: float | None, most: float | None) -> None:
    page = reply(b"", 429, {"Retry-After": header.encode().decode("latin-1")})
    async with Site({"/": page}).serving() as site:
        error = await _refused(at(site).fetch("http://a.example/"), "HTTP_TOO_MANY_REQUESTS")
    if least is None or most is None:
        assert error.retry_after is None
    else:
        assert error.retry_after is not None
        assert least <= error.retry_after <= most


@pytest.mark.parametrize(
    ("sent", "accept", "fits"),
    [
        ("text/html; charset=utf-8", ["text/html"], True),
        ("TEXT/HTML", ["text/*"], True),
        ("application/pdf", ["text/html", "application/pdf"], True),
        ("application/atom+xml", ["application/*+xml"], True),
        ("image/png", ["text/html", "application/pdf"], False),
        ("", ["text/html"], False),
        ("", [], True),
        ("x/y", ["*/*"], True),
        ("te\x1bxt/html", ["text/*"], False),
    ],
)
async def test_types_of_content(sent: str, accept: list[str], *, fits: bool) -> None:
    async with Site({"/": reply(headers={"Content-Type": sent})}).serving() as site:
        work = at(site).fetch("http://a.example/", accept=accept)
        if fits:
            assert (await work).content == b"hello"
        else:
            assert (await _refused(work, "CONTENT_TYPE")).code is Code.UNSUPPORTED


@pytest.mark.parametrize(
    ("sent", "mime", "charset"),
    [
        ("text/html", "text/html", None),
        ("Text/HTML;charset=UTF-8", "text/html", "utf-8"),
        ("text/html ; a=b; Charset = 'latin1'", "text/html", "latin1"),
        ('text/plain; charset="utf-8"; x', "text/plain", "utf-8"),
        ("text/plain; charset=", "text/plain", None),
        ("text", "", None),
        ("te\x1bxt/html", "", None),
        ("*/*", "", None),
        ("text/html; charset=\x1b[2J", "text/html", None),
    ],
)
async def test_what_the_server_says_it_is(sent: str, mime: str, charset: str | None) -> None:
    async with Site({"/": reply(headers={"Content-Type": sent})}).serving() as site:
        page = await at(site).fetch("http://a.example/")
    assert (page.mime, page.charset) == (mime, charset)


async def test_a_name_without_an_address() -> None:
    error = await _refused(
        fetcher(Names({"a.example": [[]]})).fetch("http://a.example/"), "NETWORK_ERROR"
    )
    assert not error.retryable


@pytest.mark.parametrize(("number", "retryable"), [("EAI_NONAME", False), ("EAI_AGAIN", True)])
async def test_a_name_service_that_fails(number: str, *, retryable: bool) -> None:
    import socket

    async def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(getattr(socket, number), "said")

    error = await _refused(fetcher(resolve).fetch("http://a.example/"), "NETWORK_ERROR")
    assert error.retryable is retryable


async def test_nobody_listens(unused_tcp_port: int) -> None:
    nobody = Site({})
    nobody.port = unused_tcp_port
    error = await _refused(at(nobody).fetch("http://a.example/?key=sesame"), "NETWORK_ERROR")
    assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)
    assert "sesame" not in error.message


async def test_many_at_once() -> None:
    async with Site({"/": reply()}).serving() as site:
        made = at(site)
        pages = await asyncio.gather(*(made.fetch("http://a.example/") for _ in range(200)))
    assert {page.content for page in pages} == {b"hello"}


async def test_connections_have_bounds() -> None:
    now = most = 0

    async def count(path: str, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        writer.write(reply())

    async with Site({"/": count}).serving() as site:
        made = at(site)
        await asyncio.gather(*(made.fetch("http://a.example/") for _ in range(150)))
    assert most <= 64
