from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import Code, VrError
from vr_plugin_video.youtube.addresses import parse_url, watch_url, youtube_id

ID = "dQw4w9WgXcQ"
IDS = st.text("abcXYZ019_-", min_size=11, max_size=11)
HOSTS = ["youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "YouTube.COM"]


def found(url: str) -> str | None:
    return youtube_id(parse_url(url))


@pytest.mark.parametrize(
    "url",
    [
        f"https://www.youtube.com/watch?v={ID}",
        f"https://youtu.be/{ID}",
        f"https://www.youtu.be/{ID}?si=share",
        f"https://www.youtube.com/shorts/{ID}",
        f"https://www.youtube.com/embed/{ID}?start=3",
        f"https://www.youtube-nocookie.com/embed/{ID}",
        f"https://www.youtube.com/live/{ID}?feature=share",
        f"https://m.youtube.com/watch?v={ID}",
        f"https://music.youtube.com/watch?v={ID}",
        f"https://www.youtube.com/watch?v={ID}&list=PLabc&index=2",
        f"https://www.youtube.com/watch?list=PLabc&v={ID}#t=3",
        f"https://www.youtube.com:443/watch?v={ID}",
        f"http://youtube.com/watch?v={ID}",
        f"youtube.com/watch?v={ID}",
        f"youtu.be/{ID}",
        f"https://www.youtube.com/watch\\?v\\={ID}",
        f"https://youtu.be/{ID}&t=30",
        f"  https://youtu.be/{ID}  ",
    ],
)
def test_every_form_names_the_video(url):
    assert found(url) == ID


@given(IDS, st.sampled_from(HOSTS), st.sampled_from(["watch?v=", "shorts/", "embed/", "live/"]))
def test_any_id_at_any_host_comes_back(video, host, path):
    assert found(f"https://{host}/{path}{video}") == video
    assert found(watch_url(video)) == video


@settings(max_examples=30)
@given(IDS, st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,15}[a-z0-9])?", fullmatch=True))
def test_a_host_that_only_contains_youtube_is_another_host(video, more):
    for host in (f"{more}-youtube.com", f"youtube.com.{more}.net", f"{more}youtu.be.{more}.io"):
        with suppress(VrError):
            assert found(f"https://{host}/watch?v={video}") is None


@pytest.mark.parametrize(
    "url",
    [
        f"https://not-youtube.com/watch?v={ID}",
        f"https://youtube.com.evil.com/watch?v={ID}",
        f"https://evil.com/youtube.com/watch?v={ID}",
        f"https://evil.com/?u=https://youtube.com/watch?v={ID}",
        f"https://evilyoutu.be/{ID}",
        f"https://youtu.be.evil.com/{ID}",
        f"https://xn--youtube-9x0b.com/watch?v={ID}",
        f"https://youtub\u0435.com/watch?v={ID}",
    ],
)
def test_look_alikes_are_not_youtube(url):
    assert found(url) is None


@pytest.mark.parametrize(
    "url",
    [
        f"https://youtube.com@evil.com/watch?v={ID}",
        f"https://user:secret@youtube.com/watch?v={ID}",
        f"https://evil.com\\@youtube.com/watch?v={ID}",
        f"ftp://youtube.com/watch?v={ID}",
        f"javascript:alert(1)//youtube.com/watch?v={ID}",
        "file:///etc/passwd",
        f"https://youtube.com:port/watch?v={ID}",
        f"https://youtube.com/watch?v={ID}\n.evil.com",
        f"https://youtube.com/wat ch?v={ID}",
        "https://",
        "http://[::1",
        "",
        "https://youtu.be/" + "a" * 3000,
    ],
)
def test_what_names_no_video_is_refused(url):
    with pytest.raises(VrError) as caught:
        found(url)
    assert caught.value.code is Code.INVALID_INPUT
    assert caught.value.category == "URL_INVALID"
    assert caught.value.hint
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "https://youtube.com/watch?v=short",
        f"https://youtube.com/watch?v={ID}x",
        "https://youtube.com/@channel",
        "https://youtu.be/",
        "https://youtube.com:8080/watch",
    ],
)
def test_an_address_at_youtube_without_a_video_is_told_apart(url):
    with pytest.raises(VrError) as caught:
        found(url)
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "URL_PARSE_FAILED")


@pytest.mark.parametrize("host", ["youtube.com:8080", "WWW.YOUTUBE.COM:443", "youtu.be:80"])
def test_a_port_is_passed_over(host):
    assert found(f"https://{host}/{'' if 'youtu.be' in host else 'watch?v='}{ID}") == ID


def test_a_playlist_says_that_it_is_one():
    with pytest.raises(VrError, match="playlist") as caught:
        found("https://www.youtube.com/playlist?list=PLabc")
    assert caught.value.code is Code.INVALID_INPUT


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_a_typed_error(text):
    for url in (text, f"https://{text}", f"https://youtube.com/{text}"):
        with suppress(VrError):
            found(url)
