"""The floor: the smallest FastMCP server, one trivial tool."""

from __future__ import annotations

from fastmcp import FastMCP
from pydantic import BaseModel


class Sum(BaseModel):
    """The sum of two numbers."""

    value: int


app = FastMCP("floor")


@app.tool
async def bench_add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(value=a + b)


if __name__ == "__main__":
    app.run(show_banner=False)
