"""Texts of clients' files: an entry is set, and everything else stays as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_cli.onboarding.json_text import UnreadableTextError, read_json, remove_json, set_json
from vr_cli.onboarding.toml_text import read_toml, remove_toml, set_toml

ENTRY = {"command": "/bin/vr", "args": ["serve"], "env": {"A": "ü"}}
KEYS = ["servers", "ours"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
servers = st.dictionaries(st.sampled_from(["ours", "theirs", "//", "a,}"]), values)
documents = st.builds(
    lambda rest, ours: {**rest, **({} if ours is None else {"servers": ours})},
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "servers"), values),
    st.none() | servers,
)

SAME_BUT_FOR_OURS = [
    '{\n  // first\n  "servers": {\n    "theirs": {"command": "x"}, // keep\n  },\n}\n',
    '{\n\t"servers": {\n\t\t"theirs": 1 /* a, b */\n\t}\n}',
    '{"a": "// no comment", "b": ",}", "servers": {"theirs": [1, 2,],}}',
    "// only a comment\n",
    "{ // top\n}\n",
    '{\r\n    "servers": {}\r\n}\r\n',
]
UNREADABLE = [('{\n "a": tru}', 2), ("[1]", 1), ('{"servers": 3}', 1), ("{} x", 1), ("[" * 9999, 1)]


@given(document=documents, indent=st.sampled_from([None, 2, 4, "\t"]), comments=st.booleans())
def test_any_document_keeps_what_it_held(
    document: dict[str, Any], indent: int | str | None, comments: bool
) -> None:
    text = json.dumps(document, indent=indent)
    made = set_json(text, KEYS, ENTRY, comments=comments)
    wanted = {**document, "servers": {**document.get("servers", {}), "ours": ENTRY}}
    assert json.loads(made) == wanted
    assert set_json(made, KEYS, ENTRY, comments=comments) == made


@pytest.mark.slow
@given(document=documents, indent=st.sampled_from([None, 2, 4, "\t"]), comments=st.booleans())
def test_what_was_set_is_taken_out_again(
    document: dict[str, Any], indent: int | str | None, comments: bool
) -> None:
    text = json.dumps(document, indent=indent)
    made = remove_json(set_json(text, KEYS, ENTRY, comments=comments), KEYS, comments=comments)
    others = {k: v for k, v in document.get("servers", {}).items() if k != "ours"}
    assert json.loads(made) == {**document, "servers": others}
    assert remove_json(made, KEYS, comments=comments) == made


@pytest.mark.parametrize("text", SAME_BUT_FOR_OURS)
def test_comments_stay_when_ours_is_taken_out(text: str) -> None:
    made = remove_json(set_json(text, KEYS, ENTRY, comments=True), KEYS, comments=True)
    wanted = read_json(text, comments=True)
    assert read_json(made, comments=True) == {"servers": {}, **wanted}
    for comment in ("// first", "// keep", "/* a, b */", "// only a comment", "// top"):
        assert (comment in text) == (comment in made)


@pytest.mark.parametrize("others", ["", '[mcp_servers.theirs] # keep\ncommand = "x"\n'])
def test_a_table_is_taken_out_and_the_rest_stays(others: str) -> None:
    text = f'model = "x" # mine\n\n{others}'
    made = set_toml(text, ["mcp_servers", "ours"], ENTRY)
    left = remove_toml(made, ["mcp_servers", "ours"])
    assert "ours" not in left
    assert left.startswith(text.rstrip())
    assert remove_toml(left, ["mcp_servers", "ours"]) == left


@pytest.mark.parametrize("text", SAME_BUT_FOR_OURS)
def test_comments_and_form_stay(text: str) -> None:
    before = read_json(text, comments=True)
    made = set_json(text, KEYS, ENTRY, comments=True)
    after = read_json(made, comments=True)
    assert after.pop("servers") == {**before.pop("servers", {}), "ours": ENTRY}
    assert after == before
    left = iter(made)
    assert all(char in left for char in text.rstrip("\r\n"))  # nothing was taken away
    assert ("\r\n" in text) == ("\r\n" in made)
    assert made.count("\n") == made.count("\r\n") or "\r\n" not in made


def test_a_changed_entry_alone_is_changed() -> None:
    text = '{\n  "servers": {\n    "ours": {"command": "old"}, // ours\n    "b": 1\n  }\n}\n'
    made = set_json(text, KEYS, ENTRY, comments=True)
    assert made.startswith('{\n  "servers": {\n    "ours": {\n      "command"')
    assert made.endswith('}, // ours\n    "b": 1\n  }\n}\n')


@pytest.mark.parametrize(("text", "line"), UNREADABLE)
def test_unreadable_json_names_the_line(text: str, line: int) -> None:
    with pytest.raises(UnreadableTextError) as caught:
        set_json(text, KEYS, ENTRY, comments=True)
    assert caught.value.line == line


@pytest.mark.parametrize("text", ['{"a": 1, // x\n}', '{"a": 1,}'])
def test_a_strict_client_has_no_comments(text: str) -> None:
    with pytest.raises(UnreadableTextError):
        set_json(text, KEYS, ENTRY, comments=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x" # mine\n',
        '[servers.a]\ncommand = "x"\n\n[other]\nz = 1\n\n[servers.b] # b\ncommand = "y"\n',
        'servers = {a = {command = "x"}}\n',
        "[servers]\n# none yet\n\n[z]\na = 1\n",
        'servers.a.command = "x"\r\n',
        '[servers.ours]\ncommand = "old" # ours\nurl = "x"\n[servers.ours.env]\nA = "b" # why\n',
    ],
)
def test_toml_keeps_comments_and_the_rest(text: str) -> None:
    wanted = read_toml(text)
    wanted.setdefault("servers", {})["ours"] = ENTRY
    made = set_toml(text, KEYS, ENTRY)
    assert read_toml(made) == wanted
    assert [part for part in text.split("#")[1:] if part.splitlines()[0] not in made] == []
    assert set_toml(made, KEYS, ENTRY) == made
    assert ("\r\n" in text) == ("\r\n" in made)


def test_a_list_grows_and_keeps_its_comments() -> None:
    text = '[kernel]\nallowed_roots = [\n  "/a", # first\n]\n'
    made = set_toml(text, ["kernel", "allowed_roots"], ["/a", "/b"])
    assert made == '[kernel]\nallowed_roots = [\n  "/a", # first\n  "/b",\n]\n'


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb =\n", 2), ("servers = 3\n", 1)])
def test_unreadable_toml_names_the_line(text: str, line: int) -> None:
    with pytest.raises(UnreadableTextError) as caught:
        set_toml(text, KEYS, ENTRY)
    assert caught.value.line == line
