"""Decisions about Weaviate before any server is asked: addresses, names, words, filters."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel import Code, Kernel, VrError, load_config
from vr_plugin_knowledge import plugin
from vr_plugin_knowledge.weaviate_store.address import Address, read_address
from vr_plugin_knowledge.weaviate_store.connection import require_version
from vr_plugin_knowledge.weaviate_store.faults import refused, translate
from vr_plugin_knowledge.weaviate_store.names import (
    collection_name,
    object_id,
    property_name,
    vector_name,
)
from vr_plugin_knowledge.weaviate_store.stems import stems_of, stems_of_texts

GRPC = 50051
ADDRESSES = {
    "http://localhost:8080": Address("localhost", 8080, "localhost", GRPC, secure=False),
    "http://localhost": Address("localhost", 8080, "localhost", GRPC, secure=False),
    " http://127.0.0.1:18080/ ": Address("127.0.0.1", 18080, "127.0.0.1", GRPC, secure=False),
    "http://[::1]:8080": Address("::1", 8080, "::1", GRPC, secure=False),
    "http://box.lan": Address("box.lan", 80, "box.lan", GRPC, secure=False),
    "https://box.example:8443/": Address("box.example", 8443, "box.example", GRPC, secure=True),
    "HTTPS://Box.Example": Address("box.example", 443, "box.example", GRPC, secure=True),
    "https://mine.weaviate.network": Address(
        "mine.weaviate.network", 443, "mine.grpc.weaviate.network", 443, secure=True
    ),
    "https://mine.c0.europe-west3.gcp.weaviate.cloud": Address(
        "mine.c0.europe-west3.gcp.weaviate.cloud",
        443,
        "grpc-mine.c0.europe-west3.gcp.weaviate.cloud",
        443,
        secure=True,
    ),
    "mine.weaviate.cloud": Address(
        "mine.weaviate.cloud", 443, "grpc-mine.weaviate.cloud", 443, secure=True
    ),
}
NO_ADDRESSES = (
    *("", "http://", "ftp://box", "http://box:99999", "http://box:port", "http://[::1"),
    *("http://user:secret@box:8080", "http://box/weaviate", "http://box?x=1", "http://a b"),
    f"http://box:{GRPC}",
)


@pytest.mark.parametrize("url", ADDRESSES)
def test_forms_of_addresses(url: str) -> None:
    assert read_address(url, GRPC) == ADDRESSES[url]


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(VrError) as caught:
        read_address(url, GRPC)
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "CONFIG_INVALID")
    assert "secret" not in f"{caught.value.message}{caught.value.hint}"


def test_one_variable_switches_the_store(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "WEAVIATE_URL": "http://localhost:8080"}
    stay = {**home, "VR_STORE__BACKEND": "embedded"}
    for environ, backend in (({}, "embedded"), (home, "weaviate"), (stay, "embedded")):
        config = load_config(environ, working_folder=tmp_path)
        settings_of = Kernel(config, {"knowledge": plugin}).settings
        assert config.store.backend == backend
        url = settings_of["knowledge"].model_dump()["weaviate_url"]
        assert url == environ.get("WEAVIATE_URL", "")


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_names_are_those_that_weaviate_allows_and_never_meet(one, other):
    for name in (collection_name("", one), collection_name("Team_", one)):
        assert re.fullmatch(r"[A-Z][_0-9A-Za-z]{0,254}", name)
    for name in (property_name(one), vector_name(one)):
        assert re.fullmatch(r"[_A-Za-z][_0-9A-Za-z]{0,229}", name)
    if one != other:
        assert property_name(one) != property_name(other)
        assert collection_name("", one) != collection_name("", other)


def test_names_that_fit_stay_and_reserved_ones_do_not():
    assert collection_name("", "VideoSegments") == "VideoSegments"
    assert property_name("video_id") == "video_id"
    for reserved in ("id", "vector", "vr_words", "title_searchable", "a-b", "größe", "_x"):
        assert property_name(reserved) != reserved


def test_a_uuid_is_its_own_object_and_other_keys_get_one():
    key = str(uuid4())
    assert object_id("default", "Cards", key) == key
    ids = {object_id(w, k, "a") for w in ("one", "two") for k in ("Cards", "Notes")}
    assert len(ids) == 4
    assert object_id("default", "Cards", key.upper()) != key.upper()


@settings(max_examples=50)
@given(st.lists(st.text(max_size=80), max_size=5))
def test_stems_are_those_of_the_embedded_store(texts):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE body USING fts5"
            " (words, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        connection.executemany("INSERT INTO body VALUES (?)", [(text,) for text in texts])
        for number, stems in enumerate(stems_of(texts), start=1):
            for stem in stems:
                rows = connection.execute(
                    "SELECT rowid FROM body WHERE body MATCH ?", (f'"{stem}"',)
                )
                held = {row for (row,) in rows}
                # Stemming a stem may go on; where it does not, the text is found by it.
                assert number in held or stems_of([stem]) != [[stem]]
    connection.close()


def test_stems_repeat_and_know_other_scripts():
    assert sorted(stems_of(["Foxes ran; the FOX runs foo_bar"])[0]) == sorted(
        ["fox", "ran", "the", "fox", "run", "foo", "bar"]
    )
    assert stems_of(["", "Füchse"]) == [[], ["fuchs"]]
    assert set(stems_of_texts(["知识库"])[0]) == {"知识", "识库", "库"}
    assert len(stems_of(["x" * 5000])[0][0]) == 200


@pytest.mark.parametrize(
    ("said", "code", "retryable"),
    [
        ("status code: 401, anonymous access not enabled", Code.AUTH, False),
        ("StatusCode.PERMISSION_DENIED", Code.AUTH, False),
        ("status code: 429", Code.QUOTA, True),
        ("store is read-only due to: disk usage too high", Code.UNAVAILABLE, True),
        ("not enough memory", Code.UNAVAILABLE, True),
        ("status code: 503", Code.UNAVAILABLE, True),
        ("leader not found", Code.UNAVAILABLE, True),
        ("cannot achieve consistency level", Code.UNAVAILABLE, True),
        ("something new", Code.INVALID_INPUT, False),
        ("invalid integer property 'stars' on class 'X': 'shutdown timeout'", None, False),
    ],
)
def test_what_a_server_says_becomes_a_typed_error(said, code, retryable):
    error = translate(RuntimeError(said), "http://box:8080")
    assert (error.code, error.retryable) == (code or Code.INVALID_INPUT, retryable)
    one = refused("http://box:8080", "Cards", "key-1", said)
    assert (one.code, one.retryable) == (error.code, error.retryable)
    assert one.code is not Code.INVALID_INPUT or "key-1" in one.message


def test_old_servers_are_refused():
    for version in ("1.33.0", "1.39.0", "2.0", "1.40.0-rc.0", "", "unknown"):
        require_version(version, "http://box:8080")
    for version in ("1.27.5", "1.32.99", "0.9"):
        with pytest.raises(VrError) as caught:
            require_version(version, "http://box:8080")
        assert caught.value.code is Code.UNSUPPORTED
