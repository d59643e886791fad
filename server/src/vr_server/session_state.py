"""FastMCP with a store of session state that is made when something is put into it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from fastmcp import FastMCP


class LateStore:
    """A store that is empty, and not made, until something else than `get` is asked of it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    async def get(self, key: str, **options: Any) -> Any:
        """Return what was put under a key; the default if nothing was."""
        if self._made is None:
            return options.get("default")
        return await self._made.get(key=key, **options)

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = self._make()
        return getattr(self._made, name)


class LeanServer(FastMCP[Any]):
    """FastMCP as it is, but for the price of a store that nothing is put into.

    Every list and call looks there for rules by which a session hides components, and nothing here
    makes such rules. FastMCP's store imports `key_value` and `beartype`, a fifth of a start's
    processor time. The name is private to FastMCP; should it change, a start costs more, nothing
    else, and a test on imports fails. An attribute that FastMCP sets itself would come first.
    """

    @cached_property
    def _state_store(self) -> Any:
        return LateStore(lambda: super(LeanServer, self)._state_store)
