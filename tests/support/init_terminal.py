"""`vr init` at a pseudo-terminal, and somebody there who answers."""

from __future__ import annotations

import os
import subprocess

from plugin_zoo import Zoo, vr_command


class Terminal:
    """A terminal with somebody who answers questions when they are asked."""

    def __init__(self, zoo: Zoo, *arguments: str, **variables: str) -> None:
        import pty

        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            vr_command("init", *arguments),
            env=zoo.environment(**variables),
            cwd=zoo.work,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # the key is asked for on stdin, not on our own terminal
        )
        os.close(theirs)
        self.said = ""

    def answer(self, question: str, answer: str) -> None:
        """Wait for a question, and answer it."""
        assert self._process.stderr
        seen = len(self.said)
        while question not in self.said[seen:]:
            part = os.read(self._process.stderr.fileno(), 4096)
            assert part, self.said
            self.said += part.decode()
        os.write(self._ours, f"{answer}\n".encode())

    def end(self) -> int:
        """Wait for the end."""
        out, errors = self._process.communicate(timeout=60)
        os.close(self._ours)
        self.said += out.decode() + errors.decode()
        return self._process.returncode
