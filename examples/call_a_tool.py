"""Opens a kernel with one plugin, calls its tool and prints the result as JSON.

It needs `pip install vr-kernel` and nothing else: no server, no command line.
"""

import asyncio
import sys
import tempfile

from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Kernel, hookimpl, load_config, tool


class WordCount(BaseModel):
    """A text and the number of its words."""

    text: str
    words: int


@tool(effects=READ_ONLY)
async def words_count(call: Call, text: str) -> WordCount:
    """Count the words of a text."""
    call.log.info("counting", characters=len(text))
    return WordCount(text=text, words=len(text.split()))


class Words:
    """A plugin: any object with hooks."""

    @hookimpl
    def vr_tools(self) -> list[object]:
        """Offer the tool."""
        return [words_count]


async def main() -> None:
    """Count in a fresh installation, which leaves nothing behind."""
    with tempfile.TemporaryDirectory() as folder:
        config = load_config({f"VR_{name}_DIR": folder for name in ("CONFIG", "STATE", "CACHE")})
        async with Kernel.open(config, {"words": Words()}) as kernel:
            result = await kernel.call("words_count", text="to be or not to be")
    sys.stdout.write(result.model_dump_json() + "\n")


asyncio.run(main())
