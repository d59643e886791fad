"""A browser without a window, driven over its debugging pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), "")
in_a_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-sync", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--no-first-run",
    "--disable-default-apps", "--disable-extensions", "--remote-debugging-pipe",
    "--hide-scrollbars", "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
)  # fmt: skip
"""Every way into the network ends at a port where nobody listens."""
_READ, _WRITE = 3, 4
"""The file descriptors at which the browser looks for its pipe."""


@dataclass
class Tab:
    """A page in the browser, with its requests and its errors."""

    commands: IO[bytes]
    answers: IO[bytes]
    session: str = ""
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _sent: int = 0
    _buffer: bytes = b""

    @property
    def loaded(self) -> list[str]:
        """The addresses that were asked for, without those inside the page."""
        return [url for url in dict.fromkeys(self.requests) if not url.startswith("data:")]

    def send(self, method: str, **given: Any) -> dict[str, Any]:
        """The answer to one command of the DevTools protocol."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": given}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        while True:
            heard = self._next()
            if heard.get("id") == self._sent:
                assert "error" not in heard, heard
                return dict(heard["result"])
            self._note(heard)

    def look(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited when it is a promise."""
        found = self.send(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a JavaScript condition holds."""
        self.look(
            "new Promise((done) => { const look = () =>"
            f" ({condition}) ? done() : setTimeout(look, 20); look(); }})"
        )

    def open(self, address: str) -> None:
        """Open an address, and wait until the page is loaded."""
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.send("Page.navigate", url=address)
        self.wait(f"location.href === {json.dumps(address)} && document.readyState === 'complete'")

    def click(self, selector: str) -> None:
        """Click on the middle of the first element that a selector names, as a mouse does."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.look(f"{element}.scrollIntoView({{block: 'center'}})")
        # A list that still scrolls would move it away from under the mouse.
        box = self.look(
            "new Promise((done) => { let last = ''; const look = () => {"
            f" const {{x, y, width, height}} = {element}.getBoundingClientRect();"
            " const at = [x + width / 2, y + height / 2];"
            " if (String(at) === last) done(at); else { last = String(at); setTimeout(look, 60); }"
            " }; look(); })"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent",
                type=kind, x=box[0], y=box[1], button="left", clickCount=1,
            )  # fmt: skip

    def press(self, key: str, text: str = "") -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            given = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, **given)

    def photograph(self, target: Path) -> bytes:
        """Return a picture of the page as PNG, and keep it in a file."""
        picture = base64.b64decode(self.send("Page.captureScreenshot")["data"])
        target.write_bytes(picture)
        return picture

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self.answers.fileno(), 1 << 20)
            assert more, "the browser is gone"
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, heard: dict[str, Any]) -> None:
        method, said = heard.get("method"), heard.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.complaints.append(said["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(said["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.complaints.append(str(said["args"]))


@contextmanager
def browse(folder: Path, *options: str) -> Iterator[Tab]:
    """A browser with one empty tab, its profile in `folder`."""
    (orders, commands), (answers, reports) = _pipe(), _pipe()
    process = os.posix_spawn(
        CHROMIUM,
        [CHROMIUM, *OPTIONS, *options, f"--user-data-dir={folder / 'profile'}", "about:blank"],
        {**os.environ, "HOME": str(folder)},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, orders, _READ),
            (os.POSIX_SPAWN_DUP2, reports, _WRITE),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    os.close(orders)
    os.close(reports)
    try:
        with os.fdopen(commands, "wb") as writing, os.fdopen(answers, "rb") as reading:
            yield _first_tab(writing, reading)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _first_tab(commands: IO[bytes], answers: IO[bytes]) -> Tab:
    tab = Tab(commands, answers)
    found = tab.send("Target.getTargets")["targetInfos"]
    page = next(each["targetId"] for each in found if each["type"] == "page")
    tab.session = tab.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
    return tab


def _pipe() -> tuple[int, int]:
    """Both ends of a pipe, as descriptors above 10: the reading one, the writing one."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
