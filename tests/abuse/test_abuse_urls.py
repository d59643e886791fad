"""Every argument that takes an address, against addresses that must not be read."""

from __future__ import annotations

import pytest
from abuse_bench import Bench
from tool_arguments import Argument, Kind, of_kind
from vr_kernel import Code

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("argument", of_kind(Kind.URL), ids=str),
]
REFUSALS = (Code.NOT_ALLOWED, Code.INVALID_INPUT)
# Where nothing is fetched yet, an address is refused all the same, and before anyone is asked.
NOT_READ = (*REFUSALS, Code.UNAVAILABLE, Code.UNSUPPORTED)
HOSTS = [
    "127.0.0.1", "127.0.0.1.", "127.8.9.1", "localhost", "LOCALHOST", "localhost.", "a.localhost",
    "printer.local", "metadata.google.internal", "router.home.arpa", "[::1]", "[0:0:0:0:0:0:0:1]",
    "0.0.0.0", "[::]", "10.0.0.1", "172.16.5.4", "192.168.0.1", "169.254.169.254",
    "[fd00:ec2::254]", "100.100.100.200", "100.64.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "192.0.2.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[::127.0.0.1]", "[2002:7f00:1::]", "[2002:c0a8:101::1]", "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]", "[2001:0:7f00:1::]", "[2606:4700::5efe:7f00:1]", "[fec0::1]",
    "[fe80::1]", "[ff02::1]", "127\u30020\u30020\u30021", "2130706433", "0x7f000001", "0x7f.0.0.1",
    "0177.0.0.1", "127.1", "127.0.1", "017700000001", "0", "\uff11\uff12\uff17.0.0.1",
    "127%2e0.0.1", "%6cocalhost", "256.1.1.1", "1.2.3.4.5", "168.63.129.16",
]  # fmt: skip
WRONG = [
    "http://user@example.com/a.mp4", "http://user:pass@example.com/a.mp4", "http://@example.com/",
    "http://example.com@127.0.0.1/", "http://127.0.0.1:80@example.com/", "http://\\@127.0.0.1/",
    "http://example.com\\@127.0.0.1/", "http://example.com:22/a.mp4",
    "http://example.com:6379/a.mp4", "http://example.com:0/a.mp4", "http://example.com:99999999/",
    "http://example.com:port/", "file:///etc/passwd", "FILE://localhost/etc/hosts",
    "gopher://example.com/", "ftp://example.com/a.mp4", "data:text/html,hi", "javascript:alert(1)",
    "ws://example.com/", "http+unix://%2Frun%2Fsocket/", "blob:https://example.com/1",
    "example.com", "//example.com/", "/etc/passwd", "http:", "http://", "http:///path", " ",
    "http://::1/", "http://[::1", "http://[v1.a]/", "http://[fe80::1%25eth0]/", "http://./",
    "http://example.com/\r\nHost: evil", "http://example.com/a\nb", "http://example.com/\0",
    "http://exa mple.com/", "http://example.com/\u202egnp.mp4", "http://exam\u200bple.com/",
    "http://\ud800.com/", f"http://example.com/{'a' * 5000}.mp4", f"http://{'a.' * 3000}com/",
    "\x1b]8;;http://evil\x07", "http://example.com/\x1b[31m.mp4",
]  # fmt: skip
LOOK_ALIKES = [
    "https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ", "https://youtu.be.evil.example/dQw4w9WgXcQ",
    "https://evilyoutube.com/watch?v=dQw4w9WgXcQ", "https://xn--yutube-wqf.com/watch?v=dQw4w9WgXcQ",
    "https://y\u043eutube.com/watch?v=dQw4w9WgXcQ", "https://youtube.com@evil.example/watch?v=dQw4w9WgXcQ",
    "https://www.youtube.com/watch?v=../../../x", "https://youtu.be/../../etc/passwd",
    "https://www.youtube.com/watch?v=a/b", "https://www.youtube.com/watch?v=", "https://youtu.be/",
    "https://www.youtube.com/watch?v=dQw4w9WgXc", "https://www.youtube.com/watch?v=dQw4w9WgXcQQ",
    "https://evil.example/?u=https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://evil.example:443/watch?v=dQw4w9WgXcQ", "https://www.youtube.com/watch?v=%00aaaaaaaaaa",
    "https://www.youtube.com/redirect?q=http://127.0.0.1/",
    "https://www.youtube.com/playlist?list=PL0123456789",
]  # fmt: skip
PAGES = {"content_analyze-url", "content_extract-url", "research_document-urls"}
"""Arguments that take any page, so that a look-alike of YouTube is a page like others."""
PLAYLISTS = {"video_playlist-url", "video_batch_analyze-url"}
"""Arguments that take what is no video elsewhere."""


async def test_hosts_of_the_inside(bench: Bench, argument: Argument) -> None:
    for host in HOSTS:
        for url in (f"http://{host}/a.mp4", f"https://{host}:8080/latest/meta-data/?x=.mp4"):
            await bench.abuse(argument, argument.given(url), NOT_READ)
    bench.verdict()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_hosts_of_the_inside_in_every_address(
    bench: Bench, argument: Argument, scheme: str
) -> None:
    for host in HOSTS:
        for path in ("/", "/a.mp4", ":8080/a.mp4", "/latest/meta-data/?x=.mp4"):
            await bench.abuse(argument, argument.given(f"{scheme}://{host}{path}"), NOT_READ)
    bench.verdict()


async def test_addresses_of_no_use(bench: Bench, argument: Argument) -> None:
    for url in WRONG:
        await bench.abuse(argument, argument.given(url), REFUSALS)
    bench.verdict()


async def test_look_alikes(bench: Bench, argument: Argument) -> None:
    for url in LOOK_ALIKES if str(argument) not in PAGES else ():
        if "list=" in url and str(argument) in PLAYLISTS:
            continue
        await bench.abuse(argument, argument.given(url), REFUSALS)
    bench.verdict()
