"""Checks of an installation, one by one: settings, folders, databases, models."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from gemini_service import rows_of
from vr_kernel import Change, Check, Config, Diagnosis, Kernel, hookimpl, load_config
from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.config.paths import Paths
from vr_kernel.diagnosis import databases, folders, kernel_checks, language_models
from vr_kernel.diagnosis.configuration import allowed_roots
from vr_kernel.gemini import examine_keys
from vr_kernel.gemini.health import examine_address
from vr_kernel.journal.dead_letters import DeadLetters
from vr_kernel.loading.discovery import PluginStatus
from vr_kernel.loading.hooks import Hooks
from vr_kernel.loading.loader import Loader
from vr_kernel.log import Log
from vr_kernel.state.sqlite.rows import SqliteRows
from vr_kernel.storage.database_health import examine_file
from vr_kernel.text.redaction import HIDDEN, Redaction, redactor, secrets_in_text, secrets_of

KEY = "AIza" + "k3y_" * 9


async def test_what_a_store_refused_is_told(tmp_path: Path) -> None:
    paths = Paths(tmp_path, tmp_path, tmp_path)
    assert databases.refused_records(paths).level == "ok"
    space = SqliteRows(paths.rows)
    letters = DeadLetters(rows_of(space, "dead letters"))
    assert await letters.count("embedded") == 0
    assert databases.refused_records(paths).level == "ok"
    assert not paths.rows.exists()
    change = Change(1, "default", "Notes", "key", {}, {}, "2026-01-01")
    await letters.add("embedded", change, RuntimeError("no"), 5)
    space.close()
    found = databases.refused_records(paths)
    assert (found.level, "1 records" in found.what) == ("warning", True)
    assert "vr store failed" in found.fix
    paths.rows.write_bytes(b"no database at all")
    assert databases.refused_records(paths).level == "warning"


@pytest.mark.parametrize("store", ["mine", "nobodys"])
def test_how_a_store_is_read_back_is_said_by_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    about = tmp_path / "notes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: notes\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[vr.refills]\nmine = notes:refill\n")
    monkeypatch.syspath_prepend(tmp_path)
    environ = {"VR_STATE_DIR": str(tmp_path), "VR_STORE__BACKEND": store}
    (tmp_path / "journal.db").write_bytes(b"no database at all" * 99)
    checks = kernel_checks(environ, tmp_path, load_config(environ))
    (journal,) = [each for topic, each in checks if each.name == "journal"]
    found = journal.examine()
    assert isinstance(found, Diagnosis)
    assert ("`vr notes refill --from mine`" in found.fix) is (store == "mine")


def test_a_plugin_offers_checks_with_its_services(config: Config) -> None:
    @hookimpl
    def vr_health(services):
        return [Check(services.plugin, lambda: Diagnosis.ok("well"))]

    hooks = Hooks()
    loader = Loader(config, hooks, Log("error", "console"), Redaction())
    plugins = {"one": SimpleNamespace(vr_health=vr_health), "none": SimpleNamespace()}
    made = {n: loader.load(PluginStatus(n), lambda it=it: it) for n, it in plugins.items()}
    assert [check.name for check in made["one"].health(SimpleNamespace(plugin="one"))] == ["one"]
    assert made["none"].health(SimpleNamespace(plugin="none")) == []


def settings(**values: object) -> ModelsSettings:
    """Settings of `[models]`."""
    return ModelsSettings.model_validate(values)


@pytest.mark.parametrize(
    ("keys", "level", "says"),
    [
        ([], "warning", "No Gemini key"),
        ([KEY], "ok", "Set: 1"),
        ([KEY, KEY + "2"], "ok", "Set: 2"),
        ([KEY, KEY], "warning", "twice"),
        ([KEY, f'"{KEY}"'], "fault", "key 2 of 2 stands in quotation marks"),
        (["your-api-key-goes-here-please"], "fault", "placeholder"),
        ([KEY + " " + KEY], "fault", "spaces"),
        ([KEY + "\u00e9"], "fault", "characters"),
        ([KEY[:12]], "fault", "too short, with 12"),
    ],
)
def test_keys_are_judged_and_never_shown(keys: list[str], level: str, says: str) -> None:
    found = examine_keys(keys)
    assert found.level == level
    assert says in found.what
    assert "k3y_" not in found.what + found.fix


@pytest.mark.parametrize(
    ("address", "level"),
    [
        ("", "ok"),
        ("https://example.com/gemini", "ok"),
        ("http://127.0.0.1:8080", "ok"),
        ("http://[::1]:8080", "ok"),
        ("http://localhost:1", "ok"),
        ("http://example.com", "warning"),
        ("https://me:s3cret@example.com", "fault"),
        ("https://example.com?key=s3cret", "fault"),
        ("ftp://example.com", "fault"),
        ("example.com", "fault"),
        ("https://example.com:port", "fault"),
        ("https://", "fault"),
        ("https://[::1", "fault"),
    ],
)
def test_addresses_are_judged_and_only_their_host_is_shown(address: str, level: str) -> None:
    found = examine_address(address)
    assert found.level == level
    assert "s3cret" not in found.what + found.fix


@pytest.mark.parametrize(
    ("chosen", "level", "says"),
    [
        ({}, "ok", "preset 'best'"),
        ({"preset": "budget"}, "ok", "preset 'budget'"),
        ({"default": ["gemini/gemini-3.8-flash", "auto"]}, "ok", "Configured: 1"),
        ({"default": ["gemini-3.8-flash"]}, "ok", "Configured: 1"),
        ({"gemini_model": "models/gemini-3.8-flash"}, "ok", "Configured: 1"),
        ({"gemini_flash_model": "gemini-3.8-flsh"}, "warning", "gemini_flash_model"),
        ({"judge": ["gemini/gemini-3.8-flsh"]}, "warning", "judge"),
        ({"judge": ["gemni/gemini-3.8-flash"]}, "fault", "gemni"),
    ],
)
async def test_models_are_known_or_named(chosen: dict[str, object], level, says, environ) -> None:
    config = load_config(environ=environ)
    async with Kernel.open(config, {}) as kernel:
        kernel.services.models.roles.configuration.change(**chosen)
        found = language_models.known_models(kernel.services.models.roles)
    assert found.level == level
    assert says in found.what
    if level != "ok":
        assert "Did you mean 'gemini" in found.fix


def test_roots_that_are_too_wide_are_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "videos").mkdir(parents=True)
    assert allowed_roots([home / "videos"], home).level == "ok"
    assert allowed_roots([], home).level == "ok"
    for wide in (home, tmp_path, Path(tmp_path.anchor)):
        assert allowed_roots([home / "videos", wide], home).level == "warning"
    assert allowed_roots([home, home / "music"], home).level == "fault"


def test_a_missing_folder_is_looked_at_where_it_would_be(tmp_path: Path) -> None:
    missing = tmp_path / "a" / "b"
    assert folders.writes("state", missing).level == "ok"
    assert folders.free_space([missing]).what.endswith(f"{missing}.")
    assert folders.write_ahead(missing).level == "ok"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").write_text("in the way")
    found = folders.writes("configuration", missing)
    assert found.level == "fault"
    assert "VR_CONFIG_DIR" in found.fix


def test_looking_at_a_database_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (a)")
    before = path.read_bytes()
    found = examine_file(path, "mend")
    assert (found.level, path.read_bytes()) == ("ok", before)
    assert [entry.name for entry in tmp_path.iterdir()] == ["journal.db"]
    assert examine_file(tmp_path / "none.db", "mend").level == "ok"
    assert not (tmp_path / "none.db").exists()


def test_damage_inside_a_database_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 2000)
        connection.commit()
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    found = examine_file(path, "mend")
    assert (found.level, found.fix) == ("fault", "mend")


@pytest.mark.parametrize("value", [b"\xff secret", 7, "{broken", "{}"], ids=str)
def test_damaged_rows_are_named_without_what_they_hold(tmp_path: Path, value: object) -> None:
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE record (seq INTEGER PRIMARY KEY, key TEXT NOT NULL, fields TEXT, at REAL)"
        )
        rows = [(number, f"key {number}", "{}", 1.5) for number in range(1000)]
        connection.executemany("INSERT INTO record VALUES (?,?,?,?)", rows)
        connection.execute("UPDATE record SET fields = NULL WHERE seq = 3")
        place = "CAST(? AS TEXT)" if isinstance(value, bytes) else "json_array(?)"
        place = "?" if isinstance(value, str) else place
        column = "at" if value == 7 else "fields"
        connection.execute(f"UPDATE record SET {column} = {place} WHERE seq = 700", (value,))
    found = examine_file(path, "mend", documents={"record": ("fields",)})
    if value == "{}":
        assert found.level == "ok"
        return
    assert (found.level, found.fix[:21]) == ("fault", "All others are there.")
    assert found.what.endswith("journal.db has damaged rows, which are left out: record 700.")


def test_an_empty_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "usage.db").touch()
    found = examine_file(tmp_path / "usage.db", "mend")
    assert (found.level, found.what[:17]) == ("warning", "usage.db is empty")


@pytest.mark.parametrize(
    ("how", "level"),
    [("DEFERRED", "ok"), pytest.param("EXCLUSIVE", "fault", marks=pytest.mark.slow)],
)
def test_a_database_in_use_is_a_fault_when_nobody_else_can_use_it(
    tmp_path: Path, how: str, level: str
) -> None:
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute(f"BEGIN {how}")
        connection.execute("SELECT * FROM t")
        found = examine_file(path, "mend")
    assert found.level == level
    assert ("Another process holds journal.db." in found.what) is (level == "fault")


def test_secrets_are_found_wherever_they_are_kept() -> None:
    found = secrets_of(
        {"MY_TOKEN": "one-secret,two-secret", "PATH": "/usr/bin", "x.password": "three-secret"},
        [settings(gemini_api_keys=["four-secret"])],
    )
    assert {"one-secret", "two-secret", "three-secret", "four-secret"} <= set(found)
    assert "/usr/bin" not in found
    text = "[models]\ngemini_api_keys = ['five-secret', \"six-secret\"]\nname = 'public'\n= ="
    assert {"five-secret", "six-secret"} <= set(secrets_in_text(text))


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"https://example.com/x?key={KEY[4:]}&a=1",
        f"https://me:{KEY[4:]}@example.com",
        f"Authorization: Bearer {KEY[4:]}",
    ],
)
def test_what_looks_like_a_secret_is_hidden_unknown(text: str) -> None:
    assert "k3y_" not in redactor([])(text)
    assert HIDDEN in redactor([])(text)


def test_ordinary_words_stay() -> None:
    text = "The folder /usr/share is true, and key = value; see https://example.com/?page=2."
    assert redactor(["true", "", "a"])(text) == text
