"""A plugin whose one tool takes long, says nothing meanwhile, and writes down what it did."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from vr_kernel import WRITES_LOCAL, Call, hookimpl, tool

BOOK = "BAKING_BOOK"
"""Names the file in which each layer stands that was baked."""


class Size(BaseModel):
    """The amount to bake."""

    layers: int


class Cake(BaseModel):
    """The cake that came out of the oven."""

    name: str
    layers: list[int]


@tool(effects=WRITES_LOCAL, long=True)
async def baking_bake(
    call: Call, name: str, layers: int = 1, layer_s: float = 0, ask: bool = False
) -> Cake:
    """Bake a cake, layer by layer."""
    if ask:
        layers = (await call.ask("How many layers?", Size, default=Size(layers=layers))).layers
    baked = []
    for number in range(layers):
        baked.append(await call.step("layer", partial(_bake, name, number, layer_s)))
        call.progress(number + 1, layers)
    return Cake(name=name, layers=baked)


async def _bake(name: str, number: int, layer_s: float) -> int:
    await asyncio.sleep(layer_s)
    await asyncio.to_thread(_write_down, f"{name}/{number}\n")
    return number + 1


def _write_down(line: str) -> None:
    with Path(os.environ[BOOK]).open("a", encoding="utf-8") as book:
        book.write(line)


@hookimpl
def vr_tools() -> list[Any]:
    """The tool."""
    return [baking_bake]
