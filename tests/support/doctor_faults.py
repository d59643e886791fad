"""Faults to plant in an installation, and what `vr doctor` must say of each."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ledger_state import ledger_state
from plugin_zoo import Animal, Zoo
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state.sqlite.ledger import open_ledger
from zoo_animals import GOOD, with_tool

CANARY = "AIzaCANARYcanaryCANARYcanaryCANARYcana"
"""A key that must be seen nowhere; with the quotation marks around it no key at all."""
TOKEN = "tell-nobody-1234567"
HEALTH = """
import time
from vr_kernel import Check, Diagnosis, VrError, hookimpl

@hookimpl
def vr_health(services):
"""


@dataclass(frozen=True)
class Fault:
    """A fault: who reports it, how bad it is, and words of what is said and of what helps."""

    group: str
    check: str
    level: str
    what: tuple[str, ...]
    fix: tuple[str, ...]
    animal: Animal | None = None
    plant: Callable[[Zoo], None] | None = None
    variables: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.group}: {self.check}"


def health(name: str, body: str) -> Animal:
    """A plugin that is examined by these lines."""
    return Animal(name, HEALTH + "".join(f"    {line}\n" for line in body.splitlines()))


def _damage_journal(zoo: Zoo) -> None:
    state = zoo.folder / "state"
    state.mkdir(exist_ok=True)
    (state / "journal.db").write_bytes(b"no database at all " * 400)


def _damage_cache(zoo: Zoo) -> None:
    cache = zoo.folder / "cache"
    cache.mkdir(exist_ok=True)
    (cache / "results.db").write_bytes(b"\xff\x00 nor this one " * 400)


def _set_aside(zoo: Zoo) -> None:
    (zoo.folder / "cache").mkdir(exist_ok=True)
    (zoo.folder / "cache" / "digests.db.damaged-1").write_bytes(b"x" * 100)


def _interrupt_job(zoo: Zoo) -> None:
    async def write() -> None:
        ledger = open_ledger(zoo.folder / "state" / "jobs.db")
        leases = LedgerLeases(ledger_state(ledger, lease_s=20, clock=lambda: time.time() - 1000))
        await leases.state.jobs.create(
            id="0" * 32, tool="zoo_echo", arguments={}, principal="me", workspace="default"
        )
        await leases.aclose()
        ledger.close()

    asyncio.run(write())


def _open_env_file(zoo: Zoo) -> None:
    # The first seed's file: what is ours is closed before anybody could look.
    folder = zoo.folder / ".config" / "video-research-mcp"
    folder.mkdir(parents=True)
    (folder / ".env").write_text(f"OTHER_TOKEN={TOKEN}\n", "utf-8")
    (folder / ".env").chmod(0o644)


def _project(zoo: Zoo) -> None:
    (zoo.work / "vr.toml").write_text("[kernel]\n", "utf-8")


def _greet(zoo: Zoo) -> None:
    greeting = "import sys\nif 'serve' in sys.orig_argv:\n    print('Welcome to Python!')\n"
    (zoo.packages / "sitecustomize.py").write_text(greeting, "utf-8")


TOGETHER = [
    Fault(
        "plugins", "raises", "fault", ("broken", "set RAISES_KEY"), ("pip install -U", "disabled"),
        Animal("raises", f"raise RuntimeError('set RAISES_KEY, {TOKEN} is wrong')"),
    ),
    Fault(
        "plugins", "future", "fault", ("incompatible", "vr-kernel>=99"), ("pip install -U",),
        Animal("future", with_tool("future_go"), requires=("vr-kernel>=99",)),
    ),
    Fault(
        "plugins", "aaa-twin", "fault", ("conflict", "zoo_echo", "plugin zoo"), ("disabled",),
        Animal("aaa-twin", with_tool("zoo_echo")),
    ),
    Fault(
        "plugins", "misset", "fault", ("broken", "sise", "Did you mean 'size'"), ("disabled",),
        Animal(
            "misset",
            with_tool("misset_go") + "\n@hookimpl\ndef vr_settings():\n    return Size\n",
        ),
        variables={"VR_MISSET__SISE": "1"},
    ),
    Fault(
        "plugins", "standard output", "warning", ("Hello, world!",), ("services.log",),
        Animal("greets", "print('Hello, world!')"),
    ),
    Fault("server", "server", "fault", ("Welcome to Python!",), (".pth",), plant=_greet),
    Fault(
        "crashes", "ledger", "fault", ("ZeroDivisionError",), ("report it to crashes",),
        health("crashes", "return [Check('ledger', lambda: 1 / 0)]"),
    ),
    Fault(
        "exits", "door", "fault", ("SystemExit",), ("report it to exits",),
        health("exits", "return [Check('door', lambda: exit(3))]"),
    ),
    Fault(
        "hangs", "sleep", "fault", ("no answer in 0.2 s",), ("report it to hangs",),
        health("hangs", "return [Check('sleep', lambda: time.sleep(3600), 0.2)]"),
    ),
    Fault(
        "blocks", "loop", "fault", ("no answer in 0.3 s",), ("report it to blocks",),
        health("blocks", "async def block(): time.sleep(3600)\nreturn [Check('loop', block, 0.3)]"),
    ),
    Fault(
        "explains", "disk", "fault", ("It is full.",), ("Buy one.",),
        health(
            "explains",
            "def look(): raise VrError('It is full.', hint='Buy one.')\n"
            "return [Check('disk', look)]",
        ),
    ),
    Fault(
        "refuses", "checks", "fault", ("OSError", "not today"), ("report it to refuses",),
        health("refuses", "raise OSError('not today')"),
    ),
    Fault(
        "offers-nonsense", "checks", "fault", ("expected Check, got int",), ("offers-nonsense",),
        health("offers-nonsense", "return [3]"),
    ),
    Fault(
        "says-nonsense", "words", "fault", ("not a Diagnosis",), ("report it to says-nonsense",),
        health("says-nonsense", "return [Check('words', lambda: 'fine')]"),
    ),
    Fault(
        "says-none", "texts", "fault", ("are not texts",), ("report it to says-none",),
        health("says-none", "return [Check('texts', lambda: Diagnosis.ok(None))]"),
    ),
    Fault(
        "databases", "journal", "fault", ("journal.db", "is damaged"), ("Restore", "backup"),
        plant=_damage_journal,
    ),
    Fault(
        "databases", "result cache", "warning", ("results.db",), ("Nothing is lost",),
        plant=_damage_cache,
    ),
    Fault(
        "databases", "jobs", "warning", ("interrupted", ": 1."), ("vr job list",),
        plant=_interrupt_job,
    ),
    Fault(
        "folders", "files set aside", "warning", ("digests.db.damaged-1",), ("vr clean --damaged",),
        plant=_set_aside,
    ),
    Fault(
        "configuration", "allowed folders", "fault", ("does-not-exist",), ("allowed_roots",),
        variables={"VR_ALLOWED_ROOTS": "/does-not-exist"},
    ),
    Fault(
        "configuration", "project file", "warning", ("not trusted",), ("vr config trust",),
        plant=_project,
    ),
    Fault(
        "models", "gemini key", "fault", ("1 of 1", "quotation marks"), ("GEMINI_API_KEY",),
        variables={"GEMINI_API_KEY": f'"{CANARY}"'},
    ),
    Fault(
        "models", "models", "warning", ("gemini-3.8-flsh",), ("Did you mean 'gemini-3.8-flash'",),
        variables={"VR_MODELS__FAST": "gemini-3.8-flsh"},
    ),
    Fault(
        "models", "gemini address", "warning", ("example.com unencrypted",), ("https",),
        variables={"GOOGLE_GEMINI_BASE_URL": "http://example.com/v1"},
    ),
    Fault("providers", "store", "warning", ("None is installed",), ("vr-plugin-knowledge",)),
]  # fmt: skip
"""Faults that one installation can have all at once."""

if os.name == "posix":
    TOGETHER.append(
        Fault(
            "configuration", "private files", "warning", (".env",), ("chmod 600",),
            plant=_open_env_file,
        )
    )  # fmt: skip


def _bad_toml(zoo: Zoo) -> None:
    (zoo.folder / "config").mkdir()
    (zoo.folder / "config" / "config.toml").write_text(
        f'gemini_api_keys = ["{CANARY}"]\nthis is = = no TOML', "utf-8"
    )


def _unknown_setting(zoo: Zoo) -> None:
    (zoo.folder / "config").mkdir()
    (zoo.folder / "config" / "config.toml").write_text("[kernel]\nlog_levle = 'debug'\n", "utf-8")


def _no_state_folder(zoo: Zoo) -> None:
    (zoo.folder / "state").write_text("a file in its place", "utf-8")


ALONE = [
    Fault(
        "configuration", "settings", "fault", ("config.toml", "not valid TOML"), ("Correct",),
        plant=_bad_toml,
    ),
    Fault(
        "configuration", "settings", "fault", ("log_levle",), ("Did you mean 'log_level'",),
        plant=_unknown_setting,
    ),
    Fault(
        "folders", "state folder", "fault", ("in the place of a folder",), ("VR_STATE_DIR",),
        plant=_no_state_folder,
    ),
]  # fmt: skip
"""Faults that would hide others."""


def planted(zoo: Zoo, faults: list[Fault]) -> dict[str, str]:
    """Plant faults beside a good plugin; returns the environment that shows them."""
    zoo.add(GOOD, *(fault.animal for fault in faults if fault.animal))
    for fault in faults:
        if fault.plant:
            fault.plant(zoo)
    variables = {name: value for fault in faults for name, value in fault.variables.items()}
    return zoo.environment(SECRET_TOKEN=TOKEN, **variables)
