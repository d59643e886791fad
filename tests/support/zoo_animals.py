"""The animals of the zoo: a good plugin, and bad ones with what must be said about each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plugin_zoo import Animal

GOOD = Animal("zoo", (Path(__file__).parent / "zoo_good.py").read_text("utf-8"), version="1.2.3")
SHELF = Animal("shelf", (Path(__file__).parent / "zoo_shelf.py").read_text("utf-8"))
GALLERY = Animal("gallery", (Path(__file__).parent / "zoo_gallery.py").read_text("utf-8"))
ZOO_TOOLS = [
    "zoo_climb", "zoo_crash", "zoo_echo", "zoo_exit", "zoo_fail", "zoo_flood", "zoo_free",
    "zoo_look", "zoo_misfit", "zoo_mutter", "zoo_paint", "zoo_shout", "zoo_total", "zoo_wait",
    "zoo_walk",
]  # fmt: skip

START = """
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Command, Section, hookimpl, tool

class Done(BaseModel):
    done: bool = True

class Size(Section):
    size: int = 1
"""


def with_hook(function: str) -> str:
    """Source of a plugin with one hook implementation."""
    return f"{START}\n@hookimpl\n{function}\n"


def with_tool(name: str) -> str:
    """Source of a plugin with one tool that works."""
    tool = f"@tool(effects=READ_ONLY)\nasync def {name}(call: Call) -> Done:\n    return Done()\n"
    return f"{START}\n{tool}\n@hookimpl\ndef vr_tools():\n    return [{name}]\n"


def with_half(last: str, before: str = "") -> str:
    """Source of a plugin that offers one good tool, and then `last`."""
    hook = f"@hookimpl\ndef vr_tools():\n    yield half_go\n    {last}\n"
    return f"{with_tool('half_go')}\n{before}\n{hook}"


def with_two(definition: str) -> str:
    """Source of a plugin that offers one good tool, and then one defined as `def name(…)…`."""
    name = definition.partition("(")[0].split()[-1]
    return with_half(f"yield {name}", f"@tool(effects=READ_ONLY)\n{definition}: pass\n")


@dataclass(frozen=True)
class Bad:
    """A bad animal; its state, what its reason says, and the tools it keeps."""

    animal: Animal
    state: str
    reason: tuple[str, ...]
    tools: tuple[str, ...] = ()


def broken(name: str, source: str, *reason: str) -> Bad:
    """An animal that cannot be loaded."""
    return Bad(Animal(name, source), "broken", reason)


def conflict(name: str, source: str, *reason: str, tools: tuple[str, ...] = ()) -> Bad:
    """An animal that claims a name of somebody else."""
    return Bad(Animal(name, source), "conflict", reason, tools)


AT_IMPORT = [
    broken("raises", "raise RuntimeError('set RAISES_KEY first')", "RuntimeError", "RAISES_KEY"),
    broken("exits", "import sys\nsys.exit(3)", "SystemExit", "3"),
    broken("exits-well", "import sys\nsys.exit()", "SystemExit"),
    broken("breaks-out", "raise KeyboardInterrupt", "KeyboardInterrupt"),
    broken("cancels", "import asyncio\nraise asyncio.CancelledError", "CancelledError"),
    broken("hangs", "import time\ntime.sleep(3600)", "longer than", "import_deadline_s"),
    broken("asks", "input('who are you? ')", "EOFError"),
    broken("no-library", "import no_such_library", "no_such_library"),
    broken("no-grammar", "def f(:\n", "SyntaxError"),
    Bad(Animal("no-target", "", target="zoo_plugin_nowhere"), "broken", ("zoo_plugin_nowhere",)),
]
AT_HOOKS = [
    broken("misspelt", with_hook("def vr_toolz(): return []"), "vr_toolz", "vr_tools"),
    broken("unmarked", "def vr_tools(): return []", "vr_tools", "@hookimpl"),
    broken("argument", with_hook("def vr_tools(servces): return []"), "vr_tools", "servces"),
    broken("half", with_half("raise ValueError('half way')"), "ValueError", "half way"),
    broken("async-hook", with_hook("async def vr_tools(): return []"), "vr_tools"),
    broken("no-list", with_hook("def vr_tools(): return Done"), "vr_tools"),
    broken("no-kinds", with_hook("def vr_record_kinds(): return ['K']"), "RecordKind", "str"),
    broken("no-providers", with_hook("def vr_providers(): return [1]"), "Provider", "int"),
    broken(
        "odd-providers",
        with_hook(
            "def vr_providers():\n    from vr_kernel import Provider\n"
            "    return [Provider(5, 'x', str)]"
        ),
        "a Provider has a class",
    ),
    broken("no-commands", with_hook("def vr_commands(): return ['x']"), "Command", "str"),
    broken(
        "long", with_hook("def vr_commands(): return [Command(('a', 'b', 'c'), '', '')]"), "a b c"
    ),
    broken("bad-settings", with_hook("def vr_settings(): return Size"), "VR_BAD_SETTINGS__SIZE"),
    broken("odd-settings", with_hook("def vr_settings(): return Size"), "sise", "'size'"),
]
SETTINGS = {"VR_BAD_SETTINGS__SIZE": "many", "VR_ODD_SETTINGS__SISE": "1"}
AT_TOOLS = [
    broken("sync", with_two("def sync_go(call: Call) -> Done"), "sync_go", "async"),
    broken("plain", with_half("yield print"), "print", "@tool"),
    broken("bare", with_two("async def bare_go(call: Call, a) -> Done"), "bare_go", "a ", "annot"),
    broken("vague", with_two("async def vague_go(call: Call) -> dict"), "vague_go", "pydantic"),
    broken("misnamed", with_two("async def GoNow(call: Call) -> Done"), "GoNow", "domain_verb"),
    broken("odd", with_two("async def odd_go(call: Call, a: object()) -> Done"), "odd_go"),
    broken("callless", with_two("async def callless_go() -> Done"), "callless_go", "Call"),
]
NAMES_OF_OTHERS = [
    conflict("aaa-twin", with_tool("zoo_echo"), "zoo_echo", "plugin zoo"),
    conflict("reserved", with_tool("infra_evil"), "infra_evil", "reserved"),
    conflict("reserved-too", with_tool("serve_it"), "serve_it", "reserved"),
    conflict("reserved-word", with_tool("search_all"), "search_all", "reserved"),
    conflict(
        "commander",
        with_tool("commander_go").replace("READ_ONLY)", "READ_ONLY, command='serve')"),
        "command serve",
        "reserved",
        tools=("commander_go",),
    ),
    conflict(
        "aaa-thief",
        with_hook(
            "def vr_commands():\n    words = 'zoo', 'zoo echo', 'zoo feed'\n"
            "    return [Command(tuple(w.split()), '', '') for w in words]"
        ),
        "command zoo already belongs to plugin zoo",
        "command zoo echo already belongs to plugin zoo",
        "command zoo feed already belongs to plugin zoo",
    ),
    conflict(
        "keeper",
        with_tool("keeper_go")
        + "\n@hookimpl\ndef vr_commands(): return [Command(('serve',), '', '')]",
        "serve",
        "reserved",
        tools=("keeper_go",),
    ),
]
NEVER_IMPORTED = [
    Bad(
        Animal("zoo", with_tool("zoo_shadow"), distribution="another-zoo"),
        "conflict",
        ("vr-plugin-zoo",),
    ),
    Bad(Animal("infra", with_tool("infra_shadow")), "conflict", ("vr-kernel",)),
    Bad(
        Animal("future", with_tool("future_go"), requires=("vr-kernel>=99",)),
        "incompatible",
        ("vr-kernel>=99", "0.1"),
    ),
]
BAD = [*AT_IMPORT, *AT_HOOKS, *AT_TOOLS, *NAMES_OF_OTHERS, *NEVER_IMPORTED]

NOISE = """
import atexit, os, subprocess, sys, threading

def make_noise():
    print("noise: print")
    sys.stdout.buffer.write(b"noise: buffer\\n")
    os.write(1, b"noise: descriptor\\n")
    subprocess.run([sys.executable, "-S", "-c", "print('noise: child')"], check=True)

def never_stop():
    while True:
        print("noise: thread", flush=True)
        sys.stdout.buffer.write(b"noise: thread buffer\\n")
        sys.stdout.buffer.flush()
        os.write(1, b"noise: thread descriptor\\n")

make_noise()
"""
NOISY = Animal("noisy", NOISE + with_tool("noisy_go"))
NEVER_QUIET = Animal(
    "never-quiet",
    NOISE
    + "threading.Thread(target=never_stop, daemon=True).start()\natexit.register(make_noise)\n"
    + with_tool("quiet_go"),
)
READS_STDIN = "import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', 'input()'])\n"
THIRSTY = Animal("thirsty", READS_STDIN + with_tool("thirsty_go"))
"""Its child process reads stdin, where the protocol comes from."""
UNDYING = Animal(
    "undying",
    "import threading\nthreading.Thread(target=threading.Event().wait).start()\n"
    + with_tool("undying_go"),
)
"""Its thread never ends, and is no daemon."""
