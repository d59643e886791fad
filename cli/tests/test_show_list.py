"""`vr show` and `vr list`: what is known, found by whatever a person remembers of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_fork import FreshVr
from plugin_zoo import Zoo
from zoo_animals import GALLERY

WEB = "https://example.org/films/7"
JOB = """
import asyncio, sys
from vr_kernel import Kernel, load_config

async def main():
    async with Kernel.open(load_config()) as kernel:
        jobs, me = kernel.services.jobs, kernel.services.identity.principal
        for text in sys.argv[1:]:
            given = {"about": "https://example.org/job", "text": text}
            job = await jobs.begin("gallery_note", given, me)
            print((await jobs.wait(job, me, 30)).id)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def vr(tmp_path_factory: pytest.TempPathFactory) -> FreshVr:
    """Three sources: a page, a file, and a file that is gone."""
    zoo = Zoo(tmp_path_factory.mktemp("zoo")).add(GALLERY)
    vr = FreshVr(zoo.environment(), zoo.work)
    film = zoo.work / "film.mp4"
    film.write_bytes(b"a film")
    noted = [
        (WEB, "A heron stands in the pond.", "Birds of the pond"),
        (str(film), "The fox jumps over the dog.", "Foxes at night"),
        (str(zoo.work / "gone.mp4"), "Nobody knows.", ""),
        (WEB, "It flies away.", "Birds of the pond"),
    ]
    for source, text, title in noted:
        ended = vr.run("gallery", "note", "--about", source, "--text", text, "--title", title)
        assert ended.code == 0, ended
    return vr


def ids(vr: FreshVr) -> dict[str, str]:
    """Ids of sources by their titles."""
    return {it["title"]: it["id"] for it in vr.run("list", "--json").data["sources"]}


def test_sources_are_listed_the_last_changed_first(vr: FreshVr) -> None:
    lines = vr.run("list").stdout.splitlines()
    text = "\n".join(lines)
    assert text.index("Birds of the pond") < text.index("gone.mp4") < text.index("Foxes at night")
    assert "not there any" in text
    assert "GalleryNotes 2" in text
    assert lines[2].split() == ["Title", "Source", "Records", "Changed", "Id"]
    assert max(map(len, lines)) <= 80
    listed = vr.run("list", "--json").data["sources"]
    assert [it["missing"] for it in listed] == [False, True, False]
    assert listed[0]["kinds"] == {"GalleryNotes": 2}


def test_a_list_goes_on_where_it_ended(vr: FreshVr) -> None:
    first = vr.run("list", "--limit", "2", "--json").data
    assert len(first["sources"]) == 2
    rest = vr.run("list", "--after", str(first["next"]), "--json").data
    assert ([it["title"] for it in rest["sources"]], rest["next"]) == (["Foxes at night"], None)
    further = f"`vr list --limit 2 --after {first['next']}`"
    assert further in vr.run("list", "--limit", "2").stderr
    assert "`vr gallery list --limit 1 --after" in vr.run("gallery", "list", "--limit", "1").stderr


def test_a_domain_lists_its_own(vr: FreshVr) -> None:
    assert vr.run("gallery", "list", "--json").data == vr.run("list", "--json").data
    assert "List the sources of gallery." in vr.run("gallery", "--help").stdout
    assert vr.run("infra", "list").code == 2


def test_records_of_a_kind_are_listed(vr: FreshVr) -> None:
    said = vr.run("list", "gallerynotes")
    assert said.stdout.startswith("GalleryNotes\nNotes about sources.\n")
    assert said.stdout.index("It flies") < said.stdout.index("The fox") < said.stdout.index("heron")
    data = vr.run("list", "GalleryNotes", "--limit", "1", "--json").data
    assert [it["fields"]["text"] for it in data["records"]] == ["It flies away."]
    further = f"`vr list GalleryNotes --limit 1 --after {data['next']}`"
    assert further in vr.run("list", "GalleryNotes", "--limit", "1").stderr
    rest = vr.run("list", "GalleryNotes", "--after", str(data["next"]), "--json").data
    assert len(rest["records"]) == 3
    unknown = vr.run("list", "GalleryNote")
    assert unknown.code == 1
    assert "Did you mean 'GalleryNotes'?" in unknown.stderr
    assert "`vr gallery list`" in vr.run("list", "gallery").stderr
    assert "`vr list GalleryNotes`" in vr.run("show", "gallerynotes").stderr


@pytest.mark.parametrize("columns", [30, 40, 80])
def test_the_id_of_a_record_is_whole_in_a_window_of_any_width(columns: int, vr: FreshVr) -> None:
    records = vr.run("list", "GalleryNotes", "--json").data["records"]
    narrow = FreshVr({**vr.environment, "COLUMNS": str(columns)}, vr.folder)
    lines = narrow.run("list", "GalleryNotes").stdout.splitlines()
    ids = [f"GalleryNotes/{it['key'][:8]}" for it in records]
    assert [it for each in ids for it in lines if each in it] == [it for it in lines if "/" in it]
    assert len([it for it in lines if "/" in it]) == len(ids) == 4
    assert len(lines) <= 3 + (3 if columns >= 60 else 4) * len(ids)
    assert max(map(len, lines)) <= columns


def test_a_source_is_found_by_what_one_remembers(vr: FreshVr) -> None:
    whole = ids(vr)["Foxes at night"]
    for named in (
        ["film.mp4"], ["./film.mp4"], [str(vr.folder / "film.mp4")], ["Foxes", "at", "night"],
        ["foxes"], [whole], [whole[:8]], ["film"],
    ):  # fmt: skip
        ended = vr.run("show", *named)
        assert ended.code == 0, (named, ended)
        assert "The fox jumps over the dog." in ended.stdout, named
    assert "heron" in vr.run("show", WEB).stdout


def test_a_record_is_found_by_its_kind_and_key(vr: FreshVr) -> None:
    (record, *_) = vr.run("list", "GalleryNotes", "--json").data["records"]
    key = record["key"]
    for named in (f"GalleryNotes/{key}", f"GalleryNotes/{key[:8]}", key[:13]):
        assert "It flies away." in vr.run("show", named).stdout, named
    assert "vr list GalleryNotes" in vr.run("show", "GalleryNotes/none").stderr


def test_what_is_not_clear_is_asked_back(vr: FreshVr) -> None:
    several = vr.run("show", "o")
    assert several.code == 2
    assert "Birds of the pond" in several.stderr
    unknown = vr.run("show", "Foxes at nigth")
    assert unknown.code == 1
    assert "Did you mean 'Foxes at night'?" in unknown.stderr
    assert "`vr list`" in unknown.stderr
    assert vr.run("show", "Foxes at nigth", "--json").data["error"]["category"] == "SUBJECT_UNKNOWN"


def test_a_view_is_written_and_shown_again(vr: FreshVr) -> None:
    shown = vr.run("show", "foxes")
    kept = vr.run("show", "foxes", "-o", "foxes.json")
    assert (kept.code, kept.stdout) == (0, "foxes.json\n")
    assert vr.run("show", "foxes.json").stdout == shown.stdout
    assert (
        json.loads((vr.folder / "foxes.json").read_text("utf-8"))
        == vr.run("show", "foxes", "--json").data
    )
    assert vr.run("show", "foxes", "-o", "foxes.md").code == 0
    assert vr.run("list", "-o", "list.md").code == 0
    assert "| Foxes at night |" in (vr.folder / "list.md").read_text("utf-8")
    refused = vr.run("show", "foxes", "-o", "foxes.mp4")
    assert refused.code == 2


def test_a_result_that_was_kept_is_shown_as_its_tool_shows_it(vr: FreshVr) -> None:
    assert vr.run("gallery", "plain", "-o", "plain.json", "--force").code == 0
    again = vr.run("show", "plain.json").stdout
    assert again.startswith("Plain things\n")
    assert "thing 7" in again


def test_a_result_of_which_the_tool_is_not_sure_is_shown_as_values(vr: FreshVr) -> None:
    vr.run("gallery", "plain", "-o", "known.json")
    known = vr.run("show", "known.json")
    assert known.stderr == ""
    data = json.loads((vr.folder / "known.json").read_text("utf-8"))
    for name, other in (("more", data | {"more": 1}), ("odd", data | {"rows": [1]})):
        (vr.folder / f"{name}.json").write_text(json.dumps(other), "utf-8")
        shown = vr.run("show", f"{name}.json")
        assert shown.stdout.startswith(f"{name}.json\n")
        assert "No tool here returns this. These are its plain values." in shown.stderr
    assert vr.run("gallery", "all", "--text", "Alike.", "-o", "alike.json").code == 0
    alike = vr.run("show", "alike.json")
    assert "Alike." in alike.stdout
    assert "Several tools return this: `vr gallery all`, " in alike.stderr


@pytest.mark.parametrize("text", ["{", "[]", "[1, 2]", '"x"', '{"blocks": []}', "[" * 9000])
def test_a_file_that_is_no_view_says_so(text: str, vr: FreshVr) -> None:
    (vr.folder / "broken.json").write_text(text, "utf-8")
    ended = vr.run("show", "broken.json")
    assert ended.code == 2, ended
    assert "Traceback" not in ended.stderr


def test_a_job_is_shown_as_its_result_or_its_error(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo").add(GALLERY)
    vr = FreshVr(zoo.environment(), zoo.work)
    done = subprocess.run(
        [sys.executable, "-c", JOB, "A job noted it.", "fail"],
        env=vr.environment, cwd=vr.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    noted, failed = done.stdout.split()
    assert "A job noted it." in vr.run("show", noted).stdout
    assert "A job noted it." in vr.run("show", noted[:8]).stdout
    kept = vr.run("job", "result", noted, "-o", "noted.json")
    assert kept.code == 0, kept
    assert "A job noted it." in vr.run("show", "noted.json").stdout
    assert "It did not work." in vr.run("show", failed[:8]).stdout


def test_a_file_of_a_job_is_kept_as_by_its_tool(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo").add(GALLERY)
    vr = FreshVr(zoo.environment(), zoo.work)
    done = subprocess.run(
        [sys.executable, "-c", JOB, "a recording"],
        env=vr.environment, cwd=vr.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    kept = vr.run("job", "result", done.stdout.strip(), "-o", "note.mp3")
    assert (kept.code, kept.stdout) == (0, "note.mp3\n"), kept
    assert (vr.folder / "note.mp3").read_bytes() == b"a recording"
    refused = vr.run("job", "result", done.stdout.strip(), "-o", "note.gif")
    assert "Possible here: .mp3" in refused.stderr


def test_an_empty_home_says_what_to_do(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path / "zoo").add(GALLERY)
    vr = FreshVr(zoo.environment(), zoo.work)
    assert "Nothing is known yet." in vr.run("list").stdout
    assert vr.run("show", "x").code == 1
    assert vr.run("show").code == 2


def test_a_name_that_is_no_text_is_unknown_and_none_at_all_is_asked_for(vr: FreshVr) -> None:
    bad = vr.run("show", b"\xff\xfe bad".decode("utf-8", "surrogateescape"))
    assert (bad.code, "Traceback" in bad.stderr) == (1, False)
    assert "Nothing is known" in bad.stderr
    assert vr.run("show", " ").code == 2


def test_a_closed_stdout_is_no_failure_of_ours(vr: FreshVr) -> None:
    command = f"{sys.executable} -m vr_cli list >&-"
    done = subprocess.run(
        ["sh", "-c", command],
        env=vr.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_link_that_leads_to_itself_is_no_file_to_write(vr: FreshVr, tmp_path: Path) -> None:
    link = tmp_path / "loop.md"
    link.symlink_to(link.name)
    refused = vr.run("list", "-o", str(link), "--force")
    assert refused.code != 0
    assert link.is_symlink()


def test_a_full_output_is_said_in_a_line(vr: FreshVr) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    for option in ("", "--json"):
        command = f"{sys.executable} -m vr_cli list {option} >/dev/full"
        done = subprocess.run(
            ["sh", "-c", command],
            env=vr.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 1
        assert done.stderr == "Error: The output could not be written: no space is left.\n"


def test_what_is_no_view_and_no_name_is_told(vr: FreshVr, tmp_path: Path) -> None:
    kept = tmp_path / "notes.md"
    assert vr.run("list", "-o", str(kept)).code == 0
    assert "those with .json are shown again" in vr.run("show", str(kept)).stderr
    film = tmp_path / "other.mp4"
    film.write_bytes(b"another film")
    unseen = vr.run("show", str(film)).stderr
    assert "Nothing was recorded about this file yet" in unseen
    assert ".json" not in unseen
    assert "has no name" in vr.run("list", "-o", "").stderr


def test_records_of_a_kind_without_sources_are_listed_by_its_view(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(GALLERY)
    vr = FreshVr(zoo.environment(), zoo.work)
    for name in ("Heron", "Fox"):
        assert vr.run("gallery", "meet", name).code == 0
    told = "vr list GalleryGuests lists 2 records."
    assert told in vr.run("list").stdout, "instead of: nothing is known"
    assert told in vr.run("gallery", "list").stdout
    note = ["--about", WEB, "--text", "It eats.", "--title", "Foxes at night"]
    assert vr.run("gallery", "note", *note).code == 0
    assert "`vr list GalleryGuests` lists 2 records." in vr.run("list").stderr
    shown = vr.run("list", "GalleryGuests")
    assert shown.stdout.splitlines()[0] == "Guests"
    assert "Heron" in shown.stdout
    assert "Fox" in shown.stdout


def test_a_record_is_found_by_the_name_that_lists_give_it(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(GALLERY)
    vr = FreshVr(zoo.environment(), zoo.work)
    for name in ("Night heron", "Night heron of the pond", "Fox"):
        assert vr.run("gallery", "meet", name).code == 0
    for named in (["fox"], ["Night", "Heron"], ["GalleryGuests/of the pond"], ["heron of"]):
        shown = vr.run("show", *named, "--json").data
        (row,) = shown["blocks"][0]["rows"]
        assert named[-1].rpartition("/")[2].casefold() in row[0].casefold()
    several = vr.run("show", "heron")
    assert several.code == 2
    assert "Hint: Name one of them:\n  GalleryGuests/" in several.stderr
    lines = several.stderr.splitlines()
    assert {it.partition(" (")[2] for it in lines[2:]} == {
        "Night heron)",
        "Night heron of the pond)",
    }
    assert vr.run("show", "GalleryGuests/owl").code == 1
    note = ["--about", WEB, "--text", "It eats.", "--title", "Foxes at night"]
    assert vr.run("gallery", "note", *note).code == 0
    assert "It eats." in vr.run("show", "fox").stdout, "a source comes first"
