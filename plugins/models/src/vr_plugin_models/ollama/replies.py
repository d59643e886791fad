"""Reads an answer of Ollama: whole, or line by line."""

from __future__ import annotations

from typing import Any

from vr_kernel import Reply, ToolCall, Usage

from vr_plugin_models.outcomes import count_of, cut_off


class OllamaReading:
    """An answer that arrives in one body or in many lines."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._answered_by = model
        self._texts: list[str] = []
        self._calls: list[ToolCall] = []
        self._done = ""
        self._asked: int | None = None
        self._said: int | None = None

    @property
    def text(self) -> str:
        """The words so far."""
        return "".join(self._texts)

    @property
    def is_finished(self) -> bool:
        """True when the server said that it is done."""
        return bool(self._done)

    @property
    def has_usage(self) -> bool:
        """True when the server counted tokens."""
        return self._asked is not None and self._said is not None

    @property
    def usage(self) -> Usage:
        """The tokens that were counted."""
        return Usage(calls=1, input_tokens=self._asked or 0, output_tokens=self._said or 0)

    def take(self, line: Any) -> str:
        """Read a body or a line, and return the words that it adds."""
        text = line.message.content or ""
        self._texts.append(text)
        for call in line.message.tool_calls or ():
            made = call.function
            self._calls.append(ToolCall.read("", made.name, dict(made.arguments)))
        self._answered_by = line.model or self._answered_by
        if line.done:
            self._done = line.done_reason or "stop"
            self._asked, self._said = count_of(line.prompt_eval_count), count_of(line.eval_count)
        return str(text)

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            VrError: TOO_LARGE when it reached its most tokens, with its text so far.
        """
        if self._done == "length":
            raise cut_off(self._model, self.usage, self.text)
        return Reply(text=self.text, model=self._answered_by, usage=self.usage, calls=self._calls)
