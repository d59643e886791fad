"""Foreign data in, own data out: nothing twice, nothing lost, and what is wrong is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from vr_kernel import Code, Config, VrError, load_config
from vr_plugin_knowledge.transfer.commands import export_records, import_records, reindex
from vr_testing.full_disk import fill_up, small_disk

Run = Callable[..., Any]
MANUAL = """Before any heading.

# Pump

Turn it off first.

## Clean

- Open the lid.
- Rinse it.

```
# not a heading
```

## Store

Keep it dry.
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    folders = {f"VR_{name}_DIR": str(tmp_path / name.lower()) for name in ("STATE", "CACHE")}
    environ = {"HOME": str(tmp_path), "VR_CONFIG_DIR": str(tmp_path), "VR_PLUGINS": "knowledge"}
    return load_config({**environ, **folders}, working_folder=tmp_path)


@pytest.fixture
def run(config: Config) -> Run:
    def invoke(command: click.Command, *arguments: object, at: Config = config) -> Any:
        texts = [*map(str, arguments), "--json"]
        done = CliRunner().invoke(command, texts, obj=at, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return invoke


def moved(config: Config, **environ: str) -> Config:
    """The same settings but for some variables."""
    return load_config({**config.environ, **environ}, working_folder=config.paths.config)


def write_rows(file: Path, rows: Iterable[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def exported(run: Run, folder: Path, **options: Config) -> list[dict[str, Any]]:
    file = folder / "export.jsonl"
    run(export_records, file, **options)
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [path.name for path in folder.glob(".*.part")] == []
    return rows


def test_a_judged_collection_becomes_passages(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "animals"
    folder.mkdir()
    rows = [{"_id": "A-1", "title": "Lion", "text": "It roars."}, {"_id": 2, "text": "Löwe"}]
    text = "\n\n".join(map(json.dumps, rows))
    (folder / "corpus.jsonl").write_text(text, "utf-8")
    for _ in range(2):
        assert run(import_records, folder, "--format", "beir") == {
            "imported": {"DocumentPassages": 2}
        }
    found = exported(run, tmp_path)
    assert [row["properties"]["external_id"] for row in found] == ["A-1", "2"]
    assert found[0]["properties"]["source"] == "animals"
    assert found[0]["properties"]["source_tool"] == "knowledge_import"


def test_sections_of_notes_keep_their_place(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "deep" / "pump.md").write_text(MANUAL, "utf-8")
    (notes / ".hidden").mkdir()
    (notes / ".hidden" / "secret.md").write_text("# Secret", "utf-8")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    assert run(import_records, notes, "--format", "notes") == {"imported": {"DocumentPassages": 4}}
    found = {row["properties"]["locator"]: row["properties"] for row in exported(run, tmp_path)}
    assert list(found) == ["", "Pump", "Pump > Clean", "Pump > Store"]
    assert found["Pump > Clean"]["text"].endswith("```\n# not a heading\n```")
    assert {fields["title"] for fields in found.values()} == {"Pump"}


def test_a_long_section_is_cut_between_its_blocks(run: Run, tmp_path: Path) -> None:
    blocks = [f"Paragraph {number}. " + "word " * 100 for number in range(12)]
    (tmp_path / "long.md").write_text("# Long\n\n" + "\n\n".join(blocks), "utf-8")
    run(import_records, tmp_path / "long.md", "--format", "markdown")
    texts = [row["properties"]["text"] for row in exported(run, tmp_path)]
    assert len(texts) > 2
    assert "\n\n".join(texts).split() == "\n\n".join(blocks).split(), "no word is lost"


def test_an_export_comes_back_as_it_was(run: Run, tmp_path: Path, config: Config) -> None:
    (tmp_path / "a.md").write_text(MANUAL, "utf-8")
    run(import_records, tmp_path / "a.md", "--format", "markdown")
    then = datetime.now(UTC).isoformat()
    before = exported(run, tmp_path)
    assert {row["properties"]["created_at"] < then for row in before} == {True}
    copy = (tmp_path / "export.jsonl").rename(tmp_path / "copy.jsonl")
    for at in (config, moved(config, VR_STATE_DIR=str(tmp_path / "other"))):
        run(import_records, copy, "--format", "jsonl", at=at)
        assert exported(run, tmp_path, at=at) == before
    assert run(reindex, "--collection", "DocumentPassages") == {
        "reindexed": {"records": len(before), "pending": 0}
    }


def test_another_installation_is_taken_over(run: Run, tmp_path: Path, config: Config) -> None:
    rows = [{"id": number, "text": f"Number {number}"} for number in range(1100)]
    file = write_rows(tmp_path / "rows.jsonl", rows)
    run(import_records, file, "--format", "jsonl")
    before = exported(run, tmp_path)
    other = moved(config, VR_STATE_DIR=str(tmp_path / "other"))
    done = run(import_records, tmp_path / "state", "--format", "store", at=other)
    assert done == {"imported": {"DocumentPassages": 1100}}
    assert exported(run, tmp_path, at=other) == before, "in more than one go, dates and all"


def test_of_another_installation_one_workspace_is_taken(
    run: Run, tmp_path: Path, config: Config
) -> None:
    for name, texts in {"default": ["mine"], "team": ["ours", "theirs"]}.items():
        file = write_rows(tmp_path / f"{name}.jsonl", ({"text": text} for text in texts))
        at = moved(config, VR_STORE__WORKSPACE=name)
        run(import_records, file, "--format", "jsonl", at=at)
    take = (import_records, tmp_path / "state" / "journal.db", "--format", "store")
    other = moved(config, VR_STATE_DIR=str(tmp_path / "other"))
    assert run(*take, at=other) == {
        "imported": {"DocumentPassages": 1},
        "left_in_other_workspaces": {"team": 2},
    }
    assert [row["properties"]["text"] for row in exported(run, tmp_path, at=other)] == ["mine"]
    third = moved(config, VR_STATE_DIR=str(tmp_path / "third"))
    assert run(*take, "--workspace", "team", at=third)["imported"] == {"DocumentPassages": 2}


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [
        ("markdown", "README.md", "# Readme\n\nAbout {}."),
        ("notes", "deep/README.md", "# Readme\n\nAbout {}."),
        ("jsonl", "data.jsonl", '{{"text": "About {}."}}'),
        ("beir", "corpus/corpus.jsonl", '{{"_id": "1", "text": "About {}."}}'),
    ],
)
def test_files_of_one_name_stay_apart(
    form: str, name: str, content: str, run: Run, tmp_path: Path
) -> None:
    files = {place: tmp_path / place / name for place in ("a", "b")}
    for place, file in files.items():
        file.parent.mkdir(parents=True)
        file.write_text(content.format(place), "utf-8")
        run(import_records, file if form == "jsonl" else file.parent, "--format", form)
    run(import_records, tmp_path / "b" / ".." / "a" / name, "--format", form)
    texts = [row["properties"]["text"].split()[-1] for row in exported(run, tmp_path)]
    assert texts == ["b.", "a."], "the last one replaced what it was before"


def test_what_a_file_no_longer_says_is_forgotten(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "pump.md").write_text(MANUAL, "utf-8")
    (folder / "other.md").write_text(MANUAL, "utf-8")
    beside = {"text": "A summary.", "link": (folder / "pump.md").as_uri()}
    run(import_records, write_rows(tmp_path / "own.jsonl", [beside]), "--format", "jsonl")
    run(import_records, folder, "--format", "notes")
    (folder / "pump.md").write_text("# Pump\n\nSold.", "utf-8")
    assert run(import_records, folder, "--format", "markdown") == {
        "imported": {"DocumentPassages": 5},
        "forgotten": {"DocumentPassages": 3},
    }
    texts = [row["properties"]["text"] for row in exported(run, tmp_path)]
    assert len(texts) == 6
    assert {"Sold.", "A summary."} <= set(texts), "what was not made of the file stays"
    (folder / "pump.md").write_text("", "utf-8")
    emptied = run(import_records, folder / "pump.md", "--format", "markdown")
    assert emptied["forgotten"] == {"DocumentPassages": 1}


def test_what_came_before_a_faulty_line_stays(run: Run, tmp_path: Path) -> None:
    rows = [{"text": f"Number {number}" if number != 651 else 651} for number in range(1, 701)]
    file = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(VrError) as caught:
        run(import_records, file, "--format", "jsonl")
    says = "rows.jsonl, line 651: DocumentPassages.text takes text, not int."
    assert says in caught.value.message
    assert len(exported(run, tmp_path)) == 650


def test_an_id_of_zero_is_an_id(run: Run, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": number, "text": "A number"} for number in range(3)]
    rows += [{"text": "In line 4"}, {"id": 4, "text": "A number"}]
    run(import_records, write_rows(tmp_path / "rows.jsonl", rows), "--format", "jsonl")
    found = [row["properties"].get("external_id") for row in exported(run, tmp_path)]
    assert found == ["0", "1", "2", None, "4"]


def test_a_foreign_id_is_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": 7, "title": "Seven", "text": "VII"}', "utf-8")
    run(import_records, tmp_path / "rows.jsonl", "--format", "jsonl")
    (row,) = exported(run, tmp_path)
    assert row["properties"]["external_id"] == "7"


@pytest.mark.parametrize(
    ("name", "content", "form", "says"),
    [
        ("a.jsonl", b'{"text": "ok"}\n{"text": ', "jsonl", "a.jsonl, line 2: it is no JSON"),
        ("a.jsonl", b"[1]", "jsonl", "line 1: it is no object"),
        ("a.jsonl", b'{"colour": "red"}', "jsonl", "1: DocumentPassages has no field 'colour'"),
        ("a.jsonl", b'{"collection": "Nowhere", "properties": {}}', "jsonl", "1: No collection 'N"),
        ("a.jsonl", b'{"object_id": "\\ud800", "properties": {}}', "jsonl", "line 1: its name"),
        ("a.jsonl", b"\xff\xfe\x00", "jsonl", "a.jsonl: it is no text in UTF-8"),
        ("a.jsonl", b"[" * 200_000, "jsonl", "it is no JSON"),
        ("corpus.jsonl", b'{"text": "no id"}', "beir", "it has no _id"),
        ("a.md", b"\xff\xfe", "markdown", "a.md: it is no text in UTF-8"),
        ("journal.db", b"SQLite it is not", "store", "it is no journal"),
    ],
)
def test_what_cannot_be_read_is_named(
    name: str, content: bytes, form: str, says: str, tmp_path: Path, config: Config
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(VrError) as caught:
        CliRunner().invoke(
            import_records,
            [str(tmp_path / name), "--format", form],
            obj=config,
            catch_exceptions=False,
        )
    assert says in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("form", ["jsonl", "beir", "markdown", "notes", "store"])
def test_what_is_not_there_is_said(form: str, tmp_path: Path, config: Config) -> None:
    with pytest.raises(VrError) as caught:
        CliRunner().invoke(
            import_records,
            [str(tmp_path / "nowhere"), "--format", form],
            obj=config,
            catch_exceptions=False,
        )
    assert caught.value.code == "NOT_FOUND"


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path, config: Config) -> None:
    with pytest.raises(VrError) as caught:
        CliRunner().invoke(
            export_records,
            [str(tmp_path / "missing" / "file.jsonl")],
            obj=config,
            catch_exceptions=False,
        )
    assert caught.value.code == "NOT_ALLOWED"


def test_an_export_replaces_nothing_but_files(tmp_path: Path, config: Config, run: Run) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VrError, match="no plain file") as caught:
        CliRunner().invoke(
            export_records, [str(tmp_path / "pipe")], obj=config, catch_exceptions=False
        )
    assert caught.value.code == "INVALID_INPUT"
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    run(export_records, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").is_file()


def test_an_export_without_room_leaves_what_was_there(
    tmp_path: Path, config: Config, run: Run
) -> None:
    (tmp_path / "manual.md").write_text(MANUAL, "utf-8")
    run(import_records, tmp_path / "manual.md", "--format", "markdown")
    with small_disk(tmp_path / "disk") as disk:
        file, hog = disk / "all.jsonl", disk / "hog"
        run(export_records, file)
        before = file.read_bytes()
        fill_up(hog)
        with pytest.raises(VrError) as caught:
            CliRunner().invoke(export_records, [str(file)], obj=config, catch_exceptions=False)
        assert caught.value.retryable
        assert caught.value.code is Code.UNAVAILABLE
        assert f"There is no room in {disk}." in caught.value.hint
        assert (file.read_bytes(), {*disk.iterdir()}) == (before, {file, hog})


@pytest.mark.parametrize("form", ["markdown", "notes"])
def test_what_a_model_wrote_is_not_read_in_as_a_source(
    config: Config, run: Run, tmp_path: Path, form: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    report = notes / "report.md"
    report.write_text("# Talk\n\nA heron was seen.\n", "utf-8")
    run(import_records, notes, "--format", form)
    report.write_text('---\nkind: "VideoAnalyses"\nderived: "true"\n---\n\n# Talk\n', "utf-8")
    arguments = [str(notes), "--format", form, "--json"]
    done = CliRunner().invoke(import_records, arguments, obj=config, catch_exceptions=False)
    assert json.loads(done.stdout) == {"imported": {}, "forgotten": {"DocumentPassages": 1}}
    assert str(report) in done.stderr
    assert exported(run, tmp_path) == []


def refused(config: Config, command: click.Command, *arguments: object) -> VrError:
    with pytest.raises(VrError) as caught:
        CliRunner().invoke(command, [*map(str, arguments)], obj=config, catch_exceptions=False)
    return caught.value


@pytest.fixture
def workspaces(run: Run, tmp_path: Path, config: Config) -> Path:
    """A state folder whose own workspace has one record, and that of Anna two."""
    for name, texts in {"default": ["mine"], "anna": ["hers", "more of hers"]}.items():
        file = write_rows(tmp_path / f"{name}.jsonl", ({"text": text} for text in texts))
        run(import_records, file, "--format", "jsonl", at=moved(config, VR_STORE__WORKSPACE=name))
    return tmp_path / "state"


NO_RECORDS: list[tuple[dict[str, str], list[str], str]] = [
    ({}, ["--workspace", "ana"], "Did you mean 'anna'? Others with records: anna (2)"),
    ({"VR_STORE__WORKSPACE": "typo"}, [], "anna (2), default (1). To have an empty file, name"),
    ({}, ["--collection", "ConceptKnowledge"], "To have an empty file, name a new one."),
]
"""The environment and the options of an export of nothing, and what it is told."""


@pytest.mark.usefixtures("workspaces")
def test_an_export_of_nothing_leaves_what_was_there(
    config: Config, tmp_path: Path, run: Run
) -> None:
    run(export_records, file := tmp_path / "good.jsonl")
    before = file.read_bytes()
    for environ, options, hint in NO_RECORDS:
        error = refused(moved(config, **environ), export_records, file, *options)
        assert (error.code, file.read_bytes()) == ("NOT_FOUND", before)
        assert hint in error.hint
        assert not list(tmp_path.glob(".*.part"))


def test_an_installation_without_records_has_an_empty_export(
    tmp_path: Path, config: Config, run: Run
) -> None:
    for _ in range(2):
        assert run(export_records, tmp_path / "new.jsonl") == {"exported": {}}
    assert (tmp_path / "new.jsonl").read_bytes() == b""
    error = refused(config, export_records, tmp_path / "other.jsonl", "--workspace", "anna")
    assert "'anna' has no records. Nor has any other." in f"{error.message} {error.hint}"
    assert not (tmp_path / "other.jsonl").exists()


@pytest.mark.parametrize("umask", [0o022, 0o000])
@pytest.mark.usefixtures("workspaces")
def test_an_export_is_for_the_user_alone(umask: int, tmp_path: Path, run: Run) -> None:
    file, before = tmp_path / "all.jsonl", os.umask(umask)
    try:
        run(export_records, file)
        assert file.stat().st_mode & 0o777 == 0o600
        file.chmod(0o640)  # whoever opened it to a group did so on purpose
        run(export_records, file)
        assert file.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


def test_a_workspace_of_another_installation_is_named_as_it_is(
    workspaces: Path, tmp_path: Path, config: Config, run: Run
) -> None:
    other = moved(config, VR_STATE_DIR=str(tmp_path / "other"))
    take = (import_records, workspaces, "--format", "store")
    error = refused(other, *take, "--workspace", "ana")
    assert error.code == "NOT_FOUND"
    assert error.hint == "Did you mean 'anna'? Others with records: anna (2), default (1)."
    done = run(*take, "--workspace", "anna", at=other)
    assert done["imported"] == {"DocumentPassages": 2}
    assert done["notes"] == ["From the workspace 'anna' there into 'default' here."]
    hers = moved(other, VR_STORE__WORKSPACE="anna")
    assert "notes" not in run(*take, "--workspace", "anna", at=hers), "it is where she has it"
    unnamed = refused(moved(other, VR_STORE__WORKSPACE="ben"), *take)
    assert "'ben' has no records" in unnamed.message


def test_an_installation_does_not_import_itself(
    workspaces: Path, tmp_path: Path, config: Config
) -> None:
    (tmp_path / "link").symlink_to(workspaces)
    for source in (workspaces, workspaces / "journal.db", tmp_path / "link"):
        for options in ([], ["--workspace", "anna"]):
            error = refused(config, import_records, source, "--format", "store", *options)
            assert error.code == "INVALID_INPUT"
            assert "is the state folder of this installation" in error.message
