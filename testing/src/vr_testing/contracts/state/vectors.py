"""The contract of kept vectors: tests that each implementation of `VectorTable` inherits."""

from __future__ import annotations

from typing import get_args

from vr_kernel import Purpose
from vr_kernel.state.vectors import QUESTIONS

from vr_testing.contracts.state.part import PartContract

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
ODD = ("", "\0", "a\0b", "é\U0001f600 '\"%_", "k" * 5000)


class VectorContract(PartContract):
    """The tests of `vr_kernel.state.VectorTable`."""

    async def test_what_is_kept_is_known(self) -> None:
        """Among others; any bytes, of any number of items, again after a close."""
        async with self.opened() as state:
            table = state.vectors
            made = {f"d{number}": bytes([number % 256, 0, 255, 10]) for number in range(1500)}
            for purpose in PURPOSES:
                await table.keep(purpose, "minilm@1", dict([*made.items()][:QUESTIONS]))
                await table.keep(purpose, "minilm@1", {})
                found = await table.known(purpose, "minilm@1", ["none", "d7", "d0"], 4)
                assert found == {"d0": made["d0"], "d7": made["d7"]}
                assert await table.known(purpose, "minilm@1", [], 4) == {}
            await table.keep("document", "minilm@1", made)
            table.close()
            assert await table.known("document", "minilm@1", [*made, "none"], 4) == made

    async def test_spaces_never_mix(self) -> None:
        """Neither those of purposes nor those of embedders."""
        async with self.opened() as state:
            table = state.vectors
            for number, purpose in enumerate(PURPOSES):
                for other, embedder in enumerate(("a@1", "a@2", *ODD)):
                    await table.keep(purpose, embedder, {"d": bytes([number, other])})
            for number, purpose in enumerate(PURPOSES):
                for other, embedder in enumerate(("a@1", "a@2", *ODD)):
                    found = await table.known(purpose, embedder, ["d"], 2)
                    assert found == {"d": bytes([number, other])}
                assert await table.known(purpose, "b", ["d"], 2) == {}

    async def test_a_new_vector_replaces_the_old_one(self) -> None:
        """One of a wrong size is left out until then."""
        async with self.opened() as state:
            table = state.vectors
            for purpose in PURPOSES:
                await table.keep(purpose, "a", {"d": b"longer", "e": b"right"})
                assert await table.known(purpose, "a", ["d", "e"], 5) == {"e": b"right"}
                await table.keep(purpose, "a", {"d": b"again"})
                assert await table.known(purpose, "a", ["d"], 5) == {"d": b"again"}

    async def test_only_the_latest_questions_are_kept(self) -> None:
        """Of all embedders together; documents are all kept."""
        async with self.opened() as state:
            table = state.vectors
            for purpose in PURPOSES:
                await table.keep(purpose, "old", {"first": b"1"})
                await table.keep(
                    purpose, "a", {f"{number:04}": b"1" for number in range(QUESTIONS)}
                )
                await table.keep(purpose, "a", {"last": b"1"})
            for purpose, kept in (("document", {"first": b"1"}), ("query", {})):
                assert await table.known(purpose, "old", ["first"], 1) == kept
            for digest, kept in (("0000", {}), ("0001", {"0001": b"1"}), ("last", {"last": b"1"})):
                assert await table.known("query", "a", [digest], 1) == kept
