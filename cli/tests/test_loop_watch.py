"""Code that blocks the event loop is named with its plugin, and nothing else is."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import unruly_plugin
from hypothesis import given
from hypothesis import strategies as st
from plugin_zoo import Animal, Zoo
from server_process import ServerProcess
from vr_kernel.isolation.loop_watch import LIMIT_S, LOOK_S, Holdup, Owners

ONE, OTHER = sys._getframe(), sys._getframe().f_back
UNRULY = Animal("unruly", Path(unruly_plugin.__file__).read_text("utf-8"))
NAMED = "a plugin holds up the server"


def held(*looks: tuple[Any, float, float]) -> float:
    """The text of the last of these looks."""
    holdup = Holdup()
    return [holdup.see(*look) for look in looks][-1]


def test_a_step_that_stays_is_seen() -> None:
    assert held(*[(ONE, LOOK_S, 0.0)] * 4) >= LIMIT_S - LOOK_S


def test_steps_that_follow_each_other_are_no_holdup() -> None:
    assert held(*[(ONE, LOOK_S, LOOK_S), (OTHER, LOOK_S, LOOK_S)] * 10) == 0
    assert held((ONE, LOOK_S, 0.0), (None, LOOK_S, 0.0), (ONE, LOOK_S, 0.0)) == 0


def test_a_process_that_was_stopped_holds_up_nobody() -> None:
    assert held((ONE, LOOK_S, 0.0), (ONE, 3600.0, 0.0)) == LOOK_S
    assert held((None, LOOK_S, 0.0), (ONE, 3600.0, 0.0)) == 0


def test_what_lets_no_other_thread_have_a_turn_is_seen_afterwards() -> None:
    assert held((None, LOOK_S, 0.0), (ONE, 5.0, 4.9)) == 5.0 - LOOK_S


@given(st.lists(st.tuples(st.sampled_from([ONE, OTHER, None]), st.floats(0, 100)), min_size=1))
def test_it_is_never_more_than_is_certain(looks: list[tuple[Any, float]]) -> None:
    """Of a process that uses no processor, however late the looks come."""
    step = looks[-1][0]
    since = next((n for n, look in enumerate(reversed(looks)) if look[0] is not step), len(looks))
    times = [passed for _, passed in looks[len(looks) - since + 1 :]] if step is not None else []
    certain = sum(min(passed, LOOK_S) for passed in times)
    assert held(*[(step, passed, 0.0) for step, passed in looks]) == pytest.approx(certain)


@pytest.mark.parametrize(
    ("modules", "owner"),
    [
        ({"test_loop_watch": "one"}, "one"),
        ({"test_loop_watch.plugin": "one"}, "one"),
        ({"test_loop_watch.plugin": "one", "test_loop_watch.two.plugin": "two"}, ""),
        ({"another": "one", "": "infra"}, ""),
        ({}, ""),
    ],
)
def test_code_belongs_to_the_plugin_whose_package_it_is_in(
    modules: dict[str, str], owner: str
) -> None:
    assert Owners(modules).owner(ONE) == owner


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_a_server_names_who_holds_it_up(tmp_path: Path) -> None:
    zoo = Zoo(tmp_path).add(UNRULY)
    with ServerProcess(zoo.environment(), zoo.work) as server:
        server.shake_hands("2025-11-25")
        # Who waits holds up nobody, nor does a process that stands still for a while.
        waiting = server.start(
            "tools/call", name="unruly_wait", arguments={"seconds": 1.8}, _meta={}
        )
        server.process.send_signal(signal.SIGSTOP)
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(1.2)
        server.process.send_signal(signal.SIGCONT)
        server.answer(waiting)
        server.call("unruly_block", seconds=0.2)
        assert NAMED not in server.log.read_text()
        server.call("unruly_block", seconds=2.5)
        server.call("unruly_heard", kind="block")
        told = [line for line in server.log.read_text().splitlines() if NAMED in line]
        assert [("plugin='unruly'" in line, "unruly_block" in line) for line in told] == [
            (True, True),
            (True, False),
        ]
        assert "place='zoo_plugin_unruly.hear" in told[1], "a hook is named, too"
