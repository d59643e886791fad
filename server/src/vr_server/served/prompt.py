"""One prompt of a plugin as FastMCP lists and writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from fastmcp.prompts import Message as McpMessage
from fastmcp.prompts import PromptArgument, PromptResult
from fastmcp.prompts.base import Prompt as McpPrompt
from mcp_types import CompletionArgument, PromptReference
from pydantic import PrivateAttr
from vr_kernel import Kernel, Prompt, VrError, visible
from vr_kernel.isolation import contained

from vr_server.blocks import block_of
from vr_server.failures import RefusedError
from vr_server.toolsets import describe

MOST_COMPLETIONS = 100
"""Maximum number of values that the protocol allows in one answer."""


class ServedPrompt(McpPrompt):
    """A prompt as FastMCP lists and writes it."""

    _kernel: Kernel = PrivateAttr()
    _prompt: Prompt = PrivateAttr()
    _threads: ThreadPoolExecutor = PrivateAttr()

    @classmethod
    def of(cls, kernel: Kernel, name: str, prompt: Prompt) -> ServedPrompt:
        """Wrap a prompt; `name` is its own or an alias."""
        served = cls(
            name=name,
            description=visible(describe(name, prompt)),
            arguments=[
                PromptArgument(name=a.name, description=visible(a.description), required=a.required)
                for a in prompt.arguments
            ],
        )
        served._kernel = kernel
        served._prompt = prompt
        served._threads = ThreadPoolExecutor(thread_name_prefix=f"vr-{prompt.plugin}-prompt")
        return served

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        """Write the messages for these arguments."""
        kernel, prompt = self._kernel, self._prompt
        try:
            # A plain function of a plugin may block, so it runs in a thread.
            writing = partial(kernel.write, prompt, arguments or {})
            written = await asyncio.get_running_loop().run_in_executor(self._threads, writing)
            with contained(f"Prompt {prompt.name}", prompt.plugin, kernel.log):
                messages = [McpMessage(block_of(it.content), role=it.speaker) for it in written]
                return PromptResult(messages, description=self.description)
        except VrError as error:
            raise RefusedError(error) from None


def complete(
    prompts: Mapping[str, Prompt], reference: object, argument: CompletionArgument
) -> list[str] | None:
    """List the choices of a prompt's argument that begin with what is typed."""
    if not isinstance(reference, PromptReference) or reference.name not in prompts:
        return None
    for each in prompts[reference.name].arguments:
        if each.name == argument.name:
            typed = argument.value.casefold()
            return [c for c in each.choices if c.casefold().startswith(typed)][:MOST_COMPLETIONS]
    return None
