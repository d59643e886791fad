"""Addresses that are refused by their text alone, addresses that are not, and what is shown."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel.config.settings import HttpSettings
from vr_kernel.errors import Code, VrError
from vr_kernel.http import check_url, redact_url
from web_service import Names, Network, fetcher

NOT_ALLOWED = [
    "http://127.0.0.1/", "http://127.0.0.1./", "https://127.8.9.1/", "http://localhost/",
    "http://LOCALHOST/", "http://localhost./", "http://a.localhost/", "http://printer.local/",
    "http://metadata.google.internal/", "http://router.home.arpa/", "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/", "http://0.0.0.0/", "http://[::]/", "http://10.0.0.1/",
    "http://172.16.5.4/", "http://192.168.0.1/", "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://100.64.0.1/",
    "http://192.0.0.192/", "http://198.18.0.1/", "http://224.0.0.1/", "http://240.0.0.1/",
    "http://255.255.255.255/", "http://192.0.2.1/", "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://[2002:7f00:1::]/",
    "http://[2002:c0a8:101::1]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::7f00:1]/",
    "http://[2001:0:7f00:1::]/", "http://[2606:4700::5efe:7f00:1]/", "http://[fec0::1]/",
    "http://[fe80::1]/", "http://[ff02::1]/", "http://127\u30020\u30020\u30021/",
    "http://user@example.com/", "http://user:pass@example.com/", "http://@example.com/",
    "http://example.com@127.0.0.1/", "http://127.0.0.1:80@example.com/",
    "http://example.com:22/", "http://example.com:6379/", "http://example.com:0/",
    "http://127.0.0.1:8080/", "file:///etc/passwd", "gopher://example.com/", "ftp://example.com/",
    "data:text/html,hi", "javascript:alert(1)", "ws://example.com/", "FILE://localhost/etc/hosts",
    "http+unix://%2Ftmp%2Fsocket/", "blob:https://example.com/1",
]  # fmt: skip
INVALID = [
    "", " ", "example.com", "//example.com/", "/etc/passwd", "http:", "http://", "http:///path",
    "http:/example.com", "http:example.com", "https://?a", "http://2130706433/",
    "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.1/",
    "http://127.0.1/", "http://017700000001/", "http://127.0.0.1.1/", "http://256.1.1.1/",
    "http://1.2.3.4.5/", "http://example.0x/", "http://0/", "http://8.8.8.010/",
    "http://\uff11\uff12\uff17.0.0.1/", "http://exam\u200bple.com/", "http://example.com\r\n/",
    "http://example.com/\r\nHost: evil", "http://example.com/a\nb", "http://example.com/a\tb",
    "http://example.com/\x00", "http://exa mple.com/", " http://example.com/",
    "http://example.com/ a", "http://example.com/\u202egnp.exe", "http://example.com\\@evil.com/",
    "http://evil.com\\.example.com/", "http:\\\\example.com/", "http://127%2e0.0.1/",
    "http://%6cocalhost/", "http://exa%00mple.com/", "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/", "http://[::1/", "http://::1/", "http://[::1]x/", "http://[v1.a]/",
    "http://[127.0.0.1]/", "http://example.com:port/", "http://example.com:99999999/",
    "http://example.com:8_0/", "http://example.com:\uff18\uff10/", "http://example.com:80:80/",
    "http://example..com/", "http://.example.com/", "http://example.com../", "http://./",
    f"http://{'a' * 64}.com/", f"http://{'a.' * 130}com/", "http://xn--\u00e9.com/",
    f"http://example.com/{'a' * 2048}", "http://exa<mple.com/", "http://a,b.com/",
    "http://\ud800.com/", "http://$(id).com/", "http://`id`.com/",
]  # fmt: skip
GOOD = {
    "http://example.com": "http://example.com/",
    "https://example.com/": "https://example.com/",
    "HTTPS://EXAMPLE.COM/Path": "https://example.com/Path",
    "https://example.com.": "https://example.com/",
    "https://example.com:443/a": "https://example.com/a",
    "http://example.com:443/": "http://example.com:443/",
    "https://example.com:/a": "https://example.com/a",
    "https://example.com?a=1": "https://example.com/?a=1",
    "https://example.com/#part": "https://example.com/",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=1m": "",
    "https://en.wikipedia.org/wiki/Function_(mathematics)": "",
    "https://de.wikipedia.org/wiki/M\u00fcnchen": "https://de.wikipedia.org/wiki/M%C3%BCnchen",
    "https://ja.wikipedia.org/wiki/%E6%97%A5%E6%9C%AC": "",
    "https://m\u00fcnchen.de/": "https://xn--mnchen-3ya.de/",
    "https://xn--mnchen-3ya.de/": "",
    "https://\u4e2d\u56fd.icom.museum/": "https://xn--fiqs8s.icom.museum/",
    "https://arxiv.org/pdf/2401.00001v2.pdf": "",
    "https://example.com/a%20b/c+d?q=x%26y&z=": "",
    "https://example.com/a/../b": "https://example.com/b",
    "https://user.github.io/repo/": "",
    "https://a_b.example.com/": "",
    "https://r3---sn-4g5e6nsz.googlevideo.com/videoplayback?id=1": "",
    "https://example.com/path;v=1?q=a,b&c=d:e/f?g@h": "",
    "https://example.com/@user/video/1": "",
    "https://example.com/search?q={x|y}~!*'()$": "",
    "https://1.1.1.1/dns-query": "",
    "http://8.8.8.8/": "",
    "https://[2606:4700:4700::1111]/": "",
    "https://[2606:4700:4700:0:0:0:0:1111]:443/": "https://[2606:4700:4700::1111]/",
    "https://123.example.com/": "",
    "https://0x7f.example.com/": "",
    "https://4chan.org/": "",
    "https://web.archive.org/web/2020/http://127.0.0.1/": "",
    "https://example.com/?next=http%3A%2F%2Flocalhost%2F": "",
    "https://localhost.example.com/": "",
    "https://local.example/": "",
    "https://internal.io/": "",
    "https://t.co/abc": "",
    "https://doi.org/10.1000/182": "",
    "https://example.museum/100%": "https://example.museum/100%",
    "https://youtube.com.evil.com/": "",
    f"https://example.com/{'a' * 2000}": "",
}


async def _refused(url: str) -> tuple[str, Code]:
    """Fetch, and see that nothing is asked for; category and code of the refusal."""
    names, network = Names(), Network()
    with pytest.raises(VrError) as caught:
        await fetcher(names, network).fetch(url)
    assert (names.asked, network.dialled) == ([], [])
    assert caught.value.hint
    return caught.value.category, caught.value.code


@pytest.mark.parametrize("url", NOT_ALLOWED)
async def test_not_allowed(url: str) -> None:
    assert await _refused(url) == ("URL_NOT_ALLOWED", Code.NOT_ALLOWED)


@pytest.mark.parametrize("url", INVALID)
async def test_invalid(url: str) -> None:
    assert await _refused(url) == ("URL_INVALID", Code.INVALID_INPUT)


@pytest.mark.parametrize(("url", "wire"), GOOD.items())
def test_good(url: str, wire: str) -> None:
    assert str(check_url(url)) == (wire or url)


def test_there_are_enough() -> None:
    assert len(NOT_ALLOWED) + len(INVALID) >= 55
    assert len(GOOD) >= 30


@settings(max_examples=40)
@given(st.text(max_size=80).map(lambda text: f"http://{text}") | st.text(max_size=80))
def test_any_text_is_refused_or_made_plain(text: str) -> None:
    with suppress(VrError):
        found = check_url(text)
        assert str(found).isascii()
        assert check_url(str(found)) == found


def test_a_host_is_allowed_by_name() -> None:
    settings = HttpSettings(
        allowed_hosts=["LocalHost:8080", "intranet.local", "[::1]:9000", "10.0.0.7"]
    )
    for url in (
        "http://localhost:8080/", "https://intranet.local/", "http://[0::1]:9000/",
        "http://10.0.0.7/",
    ):  # fmt: skip
        check_url(url, settings)
    for url in (
        "http://localhost/", "http://127.0.0.1:8080/", "http://a.localhost:8080/",
        "http://intranet.local:8080/", "http://[::1]/", "http://10.0.0.8/",
    ):  # fmt: skip
        with pytest.raises(VrError):
            check_url(url, settings)


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "100.100.100.200", "[fd00:ec2::254]", "0.0.0.0"]
)
def test_some_hosts_cannot_be_allowed(host: str) -> None:
    with pytest.raises(VrError, match="no public host"):
        check_url(f"http://{host}/", HttpSettings(allowed_hosts=[host]))


def test_more_ports_by_configuration() -> None:
    settings = HttpSettings(extra_ports=[8080])
    assert check_url("https://example.com:8080/", settings).port == 8080
    with pytest.raises(VrError, match="no public host"):
        check_url("http://127.0.0.1:8080/", settings)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@example.com/a?b=1#c", "https://example.com/a?b=1"),
        ("https://example.com/?v=dQw4w9WgXcQ&api_key=K", "https://example.com/?v=dQw4w9WgXcQ&api_key=***"),
        ("https://s3.example/f?X-Amz-Signature=abc&n=1", "https://s3.example/f?X-Amz-Signature=***&n=1"),
        ("https://example.com/?token=T&sig=S&key=K", "https://example.com/?token=***&sig=***&key=***"),
        (f"https://example.com/?q={'a' * 24}", "https://example.com/?q=***"),
        ("https://example.com/?AIzaSyBare", "https://example.com/?***"),
        ("https://example.com/\x1b[2Jx", "https://example.com/[2Jx"),
        ("http://[::1", "[address]"),
    ],
)  # fmt: skip
def test_secrets_are_not_shown(url: str, shown: str) -> None:
    assert redact_url(url) == shown


def test_what_is_shown_is_short() -> None:
    assert len(redact_url(f"https://example.com/{'a' * 5000}")) <= 210
