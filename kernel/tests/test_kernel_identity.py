"""Principals: the services of a call, the tokens that are taken, the things each has alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from gemini_service import MODEL
from pydantic import BaseModel, Field
from vr_kernel import (
    CALLS_OUT,
    READ_ONLY,
    WRITES_LOCAL,
    Call,
    Code,
    Identity,
    Record,
    RecordField,
    RecordKind,
    VrError,
    cache_key,
    hookimpl,
    tool,
)
from vr_kernel.access import Access, sharing
from vr_kernel.config.settings import ServeSettings
from vr_kernel.generation import Media
from vr_kernel.running.untold import ASK
from vr_testing import FakeGemini, open_kernel

OWNER = Identity("me", "default", is_owner=True)
SECRET = "a-secret-of-enough-letters-"
NOTE = RecordKind(
    "WallNotes", "Notes.", (RecordField("text", "text", "What it says."),), rerank="text"
)


class Note(BaseModel):
    """Result of a call."""

    text: str
    runs: int = 0
    cached: bool = False
    uri: str = ""


class Shown(BaseModel):
    """The path of a file."""

    path: str
    uris: dict[str, list[str]]


class Wall:
    """A plugin that records, caches, writes a file and reads one."""

    def __init__(self, *, patient: bool = False) -> None:
        self.runs = 0
        self.patient = patient
        self.waiting = asyncio.Event()

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        """One kind."""
        return [NOTE]

    @hookimpl
    def vr_tools(self) -> list[Any]:
        """Its tools."""

        @tool(effects=WRITES_LOCAL | CALLS_OUT)
        async def wall_note(call: Call, text: Annotated[str, Field(max_length=99)]) -> Note:
            """Note."""

            async def produce(inner: Call) -> Note:
                self.runs += 1
                inner.record(Record("WallNotes", {"text": text}))
                made = inner.artifact(inner.principal.encode(), "text/plain")
                return Note(text=text, runs=self.runs, uri=made.uri)

            return await call.once(cache_key(text=text), Note, produce, content_id=text)

        @tool(effects=READ_ONLY)
        async def wall_read(call: Call, path: Annotated[str, Field(max_length=999)]) -> Note:
            """Read."""
            with call.services.policy.open_file(path) as file:
                return Note(text=file.read().decode())

        @tool(effects=READ_ONLY, long=True)
        async def wall_wait(call: Call) -> Note:
            """Wait."""
            await call.step("once", _nothing)
            self.waiting.set()
            if self.patient:
                await asyncio.Event().wait()
            return Note(text=call.workspace)

        @tool(effects=WRITES_LOCAL)
        async def wall_show(call: Call, fail: bool = False, size: int = 1) -> Shown:
            """Show a file."""
            made = call.artifact(b"shown", "text/plain")
            if fail:
                raise VrError(f"{made.path} is odd.", Code.CONFLICT, hint=f"Look at {made.path}")
            call.note(f"See {made.path}.")
            return Shown(path=str(made.path), uris={"all": [made.uri] * size})

        return [wall_note, wall_read, wall_wait, wall_show]


async def _nothing() -> bool:
    return True


def access(**settings: Any) -> Access:
    return Access(ServeSettings(**settings), OWNER)


def test_names_have_their_own_workspace_or_the_one_they_are_given(tmp_path: Path) -> None:
    given = access(
        tokens=[SECRET + "0", f"anna:{SECRET}1", f"ben:{SECRET}2"],
        shared_workspaces=["team"],
        workspaces={"ben": "team"},
        roots={"anna": [tmp_path]},
    )
    assert given.principals() == ["anna", "ben", "me"]
    assert given.identify("me") is OWNER
    assert given.identify("anna") == Identity("anna", "anna", is_owner=False, roots=(tmp_path,))
    assert given.identify("ben") == Identity("ben", "team", is_owner=False)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"workspaces": {"anna": "team"}}, "not shared"),
        ({"workspaces": {"carl": "team"}, "shared_workspaces": ["team"]}, "no token has that"),
        ({"roots": {"carl": ["/tmp"]}}, "no token has that"),
        ({"shared_workspaces": ["../up"]}, "No workspace can be named"),
        ({"shared_workspaces": ["anna"]}, "has the name of a token"),
        ({"shared_workspaces": ["team", "Team"]}, "Two shared workspaces"),
        ({"tokens": [f"anna:{SECRET}1", f"anna:{SECRET}2"]}, "Two tokens have the name"),
        ({"tokens": [f"anna:{SECRET}1", f"Anna:{SECRET}2"]}, "Two tokens have the name"),
        ({"tokens": [f"anna/../x:{SECRET}1"]}, "No token can be named"),
        ({"tokens": [f"a b:{SECRET}1"]}, "No token can be named"),
        ({"tokens": [f":{SECRET}1"]}, "No token can be named"),
        ({"tokens": [f"{'a' * 65}:{SECRET}1"]}, "No token can be named"),
        ({"tokens": [f"Default:{SECRET}1"]}, "the owner's workspace"),
        ({"tokens": [f"me:{SECRET}1"]}, "the user who runs the server"),
        ({"tokens": [f"anna:{SECRET}1", f"ben:{SECRET}1"]}, "Token 2, ben, .*two principals"),
        ({"tokens": [f"anna:{SECRET}1", "ben:short"]}, "Token 2, ben, .*shorter than"),
        ({"tokens": [f"anna:{SECRET}1", "short"]}, "Token 2 in .*shorter than"),
        ({"tokens": [f"{SECRET}:short"]}, "Token 1 in .*shorter than"),
        ({"roots": {"anna": ["films"]}}, "gives anna the folder 'films', which is relative"),
        ({"roots": {"anna": ["/no/such/folder"]}}, "'/no/such/folder', which is not there"),
        ({"roots": {"anna": [__file__]}}, "no folder"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(VrError, match=says) as caught:
        access(**{"tokens": [f"anna:{SECRET}1"], **settings}).principals()
    assert (caught.value.code, caught.value.category) == (Code.INVALID_INPUT, "CONFIG_INVALID")
    assert caught.value.hint
    assert SECRET not in caught.value.message + caught.value.hint


def test_the_owners_workspace_is_shared_when_it_is_named_on_purpose() -> None:
    given = {"tokens": [f"anna:{SECRET}1"], "workspaces": {"anna": OWNER.workspace}}
    with pytest.raises(VrError, match="which is not shared"):
        access(**given).principals()
    shared = access(**given, shared_workspaces=[OWNER.workspace])
    assert shared.principals() == ["anna"]
    assert shared.identify("anna") == Identity("anna", OWNER.workspace, is_owner=False)


async def test_others_are_given_the_addresses_of_their_artifacts_and_no_paths(
    tmp_path: Path,
) -> None:
    async with open_kernel({"wall": Wall()}, folder=tmp_path) as kernel:

        async def show(who: str | None, **given: Any) -> tuple[str, str]:
            """The path that a call names, and all that it says."""
            ended = await kernel.run("wall_show", given, principal=who)
            error = f"{ended.error} {ended.error.hint}" if ended.error else ""
            return ended.data.get("path", ""), f"{ended.data} {ended.notes} {error}"

        path, said = await show(None)
        assert path.startswith(str(tmp_path))
        assert said.count(path) == 2
        assert path in (await show(None, fail=True))[1]
        assert str(tmp_path) in (await show(None, size=2000))[1]
        address, said = await show("anna")
        assert address.startswith("vr://artifacts/")
        assert said.count(address) == 3
        for other in (
            said,
            *[(await show("anna", **g))[1] for g in ({"fail": True}, {"size": 2000})],
        ):
            assert str(tmp_path) not in other
            assert "vr://artifacts/" in other
        read = await kernel.run("wall_read", {"path": address}, principal="anna")
        assert read.data["text"] == "shown"
        for who, path in (("ben", address), ("anna", "vr://artifacts/../artifacts/x")):
            assert (await kernel.run("wall_read", {"path": path}, principal=who)).error


def test_who_shares_is_told() -> None:
    settings = ServeSettings(
        shared_workspaces=["team", "empty"], workspaces={"ben": "team", "anna": "team"}
    )
    assert sharing(settings) == {"team": ["anna", "ben"], "empty": []}


async def test_no_principal_has_anything_of_another(tmp_path: Path) -> None:
    wall = Wall()
    async with open_kernel({"wall": wall}, folder=tmp_path) as kernel:
        outcomes = {}
        for who in (None, "anna", "ben", "anna"):
            outcomes[who] = await kernel.run("wall_note", {"text": "equal"}, principal=who)
        assert wall.runs == 3  # anna's second is from her own cache
        assert outcomes["anna"].data["cached"]
        changes = await kernel.services.journal.changes(0)
        assert [change.workspace for change in changes] == ["default", "anna", "ben"]
        resource = next(iter(kernel.resources.values()))
        name = outcomes["anna"].data["uri"].rpartition("/")[2]
        assert (await kernel.read(resource, {"name": name}, "anna")).path.read_text() == "anna"
        for other in (None, "ben"):
            with pytest.raises(VrError, match="No artifact"):
                await kernel.read(resource, {"name": name}, other)
        listed = await kernel.run("infra_cache", {"action": "clear"}, principal="ben")
        assert (listed.data["removed"], listed.data["total_files"]) == (1, 0)
        for who in (None, "anna"):
            report = await kernel.run("infra_cache", {"action": "list"}, principal=who)
            assert len(report.data["entries"]) == 1


async def test_others_read_their_own_artifacts_and_what_the_owner_gives(tmp_path: Path) -> None:
    given, secret = tmp_path / "given", tmp_path / "secret.txt"
    given.mkdir()
    (given / "file.txt").write_text("given", "utf-8")
    secret.write_text("secret", "utf-8")
    settings = {"kernel.serve.roots": {"anna": [str(given)]}}
    async with open_kernel({"wall": Wall()}, folder=tmp_path, settings=settings) as kernel:
        made = await kernel.run("wall_note", {"text": "x"}, principal="ben")
        name = made.data["uri"].rpartition("/")[2]
        own = tmp_path / "state" / "workspaces" / "ben" / "artifacts" / name

        async def read(path: Path, who: str | None) -> str:
            outcome = await kernel.run("wall_read", {"path": str(path)}, principal=who)
            return outcome.error.code.value if outcome.error else outcome.data["text"]

        assert await read(secret, None) == "secret"
        assert await read(own, "ben") == "ben"
        assert await read(given / "file.txt", "anna") == "given"
        for path, who in ((secret, "anna"), (secret, "ben"), (own, "anna"), (given, "ben")):
            assert await read(path, who) == "NOT_ALLOWED"
        for who, way in ((None, "vr init --folder"), ("anna", "Ask the owner"), ("ben", "roots")):
            outside = await kernel.run("wall_read", {"path": "/elsewhere/a.txt"}, principal=who)
            assert outside.error is not None
            assert way in outside.error.hint
            assert ("vr init" in outside.error.hint) == (who is None)


async def test_resumed_job_is_still_for_whom_it_was_begun(tmp_path: Path) -> None:
    wall = Wall(patient=True)
    async with open_kernel({"wall": wall}, folder=tmp_path) as kernel:
        job_id = kernel.start("wall_wait", {}, principal="anna").id
        await wall.waiting.wait()
    async with open_kernel({"wall": Wall()}, folder=tmp_path) as kernel:
        asked = [(job_id, "ben"), ("b" * 32, "ben"), (job_id, None)]
        refused = [
            (await kernel.run("job_result", {"job_id": each}, principal=who)).error
            for each, who in asked
        ]
        assert {str(error).replace("b" * 32, job_id) for error in refused} == {str(refused[0])}
        assert refused[0] is not None
        assert refused[0].code is Code.NOT_FOUND
        ended = await kernel.run("job_result", {"job_id": job_id}, principal="anna")
        assert (ended.data["state"], ended.data["result"]["text"]) == ("done", "anna")


async def test_the_machine_is_the_owners(tmp_path: Path) -> None:
    async with open_kernel({}, folder=tmp_path) as kernel:
        for given in ({}, {"temperature": 0.5}):
            refused = await kernel.run("infra_configure", given, principal="anna")
            assert refused.error is not None
            assert refused.error.code is Code.NOT_ALLOWED
            assert not refused.data
        allowed = await kernel.run("infra_configure", {"temperature": 0.5})
        assert allowed.error is None
        for name in ("anna/../ben", "default"):
            with pytest.raises(VrError, match="cannot be the name"):
                await kernel.run("infra_cache", {}, principal=name)


async def test_others_are_not_told_where_on_the_machine_the_server_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        @hookimpl
        def vr_tools(self) -> list[Any]:
            raise OSError(f"{tmp_path} is full")

    monkeypatch.chdir(tmp_path)
    settings = {"kernel.strict": "false"}
    plugins = {"wall": Wall(), "odd": Odd()}
    async with open_kernel(plugins, folder=tmp_path, settings=settings) as kernel:
        assert str(tmp_path) in str((await kernel.run("infra_plugins", {})).data)
        for name, given in (
            ("wall_read", {"path": "a.txt"}),
            ("wall_read", {"path": str(tmp_path / "state" / "jobs.db")}),
            ("infra_cache", {}),
            ("infra_configure", {}),
            ("infra_plugins", {}),
            ("infra_usage", {}),
            ("job_list", {}),
        ):
            ended = await kernel.run(name, given, principal="anna")
            error = f"{ended.error} {ended.error.hint}" if ended.error else ""
            assert str(tmp_path) not in f"{error} {ended.data} {ended.notes}", name
        assert (await kernel.run("infra_cache", {})).data["cache_dir"]


async def test_faults_of_files_are_the_owners_to_mend(tmp_path: Path) -> None:
    class Holder:
        """Fails as a file does that a suspended process holds."""

        @hookimpl
        def vr_tools(self) -> list[Any]:
            @tool(effects=READ_ONLY)
            async def wall_hold(call: Call, refuse: bool) -> Note:
                """Hold."""
                home = call.services.paths.state
                hint = "Process 4711 is suspended: resume it (kill -CONT 4711) or end it."
                error = VrError(
                    f"{home} is held.", Code.UNAVAILABLE, hint=f"{hint} See {home}/a.db, {home}."
                )
                if refuse:
                    raise error
                call.note(f"Not recorded: {error.message} {error.hint}")
                return Note(text=f"In short. {error.message} {error.hint}")

            return [wall_hold]

    async with open_kernel({"wall": Holder()}, folder=tmp_path) as kernel:

        async def told(who: str | None) -> list[str]:
            refused = await kernel.run("wall_hold", {"refuse": True}, principal=who)
            assert refused.error
            noted = await kernel.run("wall_hold", {"refuse": False}, principal=who)
            error = f"{refused.error.message} {refused.error.hint}"
            return [error, *noted.notes, noted.data["text"]]

        for text in await told(None):
            assert f"{tmp_path}/state is held" in text.replace("\\", "/")
            assert "kill -CONT 4711" in text
        others = await told("anna")
        assert others[0] == f"the state folder is held. {ASK}"
        for text in others[1:]:
            assert text.endswith(f"the state folder is held. {ASK} See a.db, the state folder.")


@pytest.mark.parametrize("name", ["jobs.db", "journal.db"])
async def test_others_are_not_told_where_a_damaged_file_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / name).write_bytes(b"no database at all " * 500)
    async with open_kernel({"wall": Wall()}, folder=tmp_path) as kernel:
        told = []
        for who in (None, "anna"):
            for tool_name, given in (("job_list", {}), ("wall_note", {"text": "x"})):
                ended = await kernel.run(tool_name, given, principal=who)
                error = f"{ended.error} {ended.error.hint}" if ended.error else ""
                told.append(f"{error} {ended.data} {ended.notes}")
                assert not error or who is None or error.endswith(ASK)
        assert str(tmp_path) in "".join(told[:2])
        assert str(tmp_path) not in "".join(told[2:])
        assert "damaged" in "".join(told[2:])


@tool(effects=CALLS_OUT, long=True)
async def wall_watch(call: Call, path: Annotated[str, Field(max_length=999)]) -> Note:
    """Have the service keep a file, and what it makes of it."""
    with call.services.policy.open_file(path) as file:
        media = Media("video/mp4", file=file)
        address = await call.services.gemini.upload(media)
        name = await call.services.gemini.cached_content(MODEL, media)
        names = [each.name for each in await call.services.gemini.context_caches()]
    return Note(text=f"{name} {names == [name]}", uri=address)


async def test_each_has_uploads_and_context_caches_of_their_own(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    film.write_bytes(bytes(200_000))
    with FakeGemini() as gemini:
        variables = {"GEMINI_API_KEY": "a-key", "GOOGLE_GEMINI_BASE_URL": gemini.url}
        roots = {name: [str(tmp_path)] for name in ("anna", "ben")}
        async with open_kernel(
            {"wall": SimpleNamespace(vr_tools=hookimpl(lambda: [wall_watch]))},
            folder=tmp_path,
            settings={"kernel.serve.roots": roots},
            variables=variables,
        ) as kernel:
            told = []
            for who in (None, "anna", "ben", "anna"):
                outcome = await kernel.run("wall_watch", {"path": str(film)}, principal=who)
                assert outcome.error is None, outcome.error
                told.append((outcome.data["uri"], outcome.data["text"]))
        assert told[3] == told[1]
        for each in zip(*told[:3], strict=True):
            assert len(set(each)) == 3
        assert all(text.endswith(" True") for _, text in told)
        assert len(gemini.requests_of("files.create")) == 3
        assert len(gemini.requests_of("cachedContents.create")) == 3
