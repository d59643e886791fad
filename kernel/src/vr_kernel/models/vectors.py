"""Embeddings of texts and pictures, each computed once and kept next to the journal."""

from __future__ import annotations

import asyncio
import hashlib
import math
from array import array
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import islice
from struct import pack
from typing import TYPE_CHECKING, Any, cast

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Purpose
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.isolation.previewing import is_previewed, refuse_in_preview
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.providers import Embedder, ProviderRegistry

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture
    from vr_kernel.protocols.models import Models
    from vr_kernel.state.vectors import VectorTable

PATIENCE_S = 120.0
"""Seconds to wait for a process that embeds the same items; then they are embedded here."""
CLOSE_GRACE_S = 1.0
"""Seconds that running embeddings may take to finish when the program ends."""
_Vectors = dict[str, bytes]
"""Vectors of items by digest, in their stored form."""
_Items = Mapping[str, "str | Picture"]
_Embed = Callable[[_Items, Purpose], Coroutine[Any, Any, _Vectors]]


class VectorCache:
    """The configured embedder with a cache: nothing is embedded, and paid for, twice.

    An embedding that has begun is finished and kept even when its caller is gone.

    Args:
        table: keeps the vectors.
        providers: gives the embedder.
        leases: keep two processes from embedding the same items.
    """

    def __init__(
        self, table: VectorTable, providers: ProviderRegistry, leases: LedgerLeases
    ) -> None:
        self._table = table
        self._providers = providers
        self._leases = leases
        self._running: dict[tuple[str, ...], asyncio.Task[_Vectors]] = {}
        self._closing = asyncio.Event()
        self.models: Models | None = None

    def of_call(self, models: Models) -> VectorCache:
        """The same cache, for a call; an embedder that asks models spends on its behalf."""
        bound = copy(self)
        bound.models = models
        return bound

    def available(self) -> bool:
        """Check if an embedder is installed."""
        try:
            self._embedder()
        except VrError:
            return False
        return True

    @property
    def embedder_id(self) -> str:
        """Model and version of the embedder; vectors of different ids never mix."""
        return self._embedder().id

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._embedder().dimension

    @property
    def accepts(self) -> frozenset[str]:
        """Kinds of item that can be embedded: `text`, `image`."""
        from vr_kernel.items.acceptance import accepted_by

        return accepted_by(self._embedder())

    async def embed_documents(self, items: Sequence[str | Picture]) -> list[list[float]]:
        """One unit-length vector per item, in order.

        Raises:
            VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED, for pictures when the embedder takes
                texts alone; UNAVAILABLE when no embedder is installed; CONFLICT when closed.
        """
        return [_unpacked(vector) for vector in await self.packed_documents(items)]

    async def packed_documents(self, items: Sequence[str | Picture]) -> list[bytes]:
        """The vectors of `embed_documents`, each as its 32-bit numbers one after the other.

        Raises:
            VrError: as for `embed_documents`.
        """
        self._require_open()
        self._require_accepted(items)
        keys = [_key(item) for item in items]
        known = await self._known("document", keys)
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
        if missing:
            known |= await self._finished(self._embed_once, missing, "document")
        return [known[key] for key in keys]

    async def embed_query(self, item: str | Picture) -> list[float]:
        """The vector of a question, which may be a picture.

        Raises:
            VrError: as for `embed_documents`.
        """
        self._require_open()
        self._require_accepted([item])
        key = _key(item)
        known = await self._known("query", [key])
        if not known:
            known = await self._finished(self._embed, {key: item}, "query")
        return _unpacked(known[key])

    async def aclose(self) -> None:
        """Wait a short time for running embeddings, and close the table."""
        self._closing.set()
        if running := [*self._running.values()]:
            _, late = await asyncio.wait(running, timeout=CLOSE_GRACE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._table.close()

    def _require_open(self) -> None:
        # A store that is closed after this would open the file again.
        if self._closing.is_set():
            raise VrError(
                "Nothing is embedded any more: the kernel is closed.",
                Code.CONFLICT,
                category="KERNEL_CLOSED",
                hint="Open a new kernel.",
            )

    def _require_accepted(self, items: Sequence[str | Picture]) -> None:
        from vr_kernel.items.acceptance import require_accepted

        require_accepted(self.embedder_id, self.accepts, items)

    def _embedder(self) -> Embedder:
        embedder = self._providers.get(Embedder)
        of_call = None if self.models is None else getattr(embedder, "of_call", None)
        return embedder if of_call is None else cast("Embedder", of_call(self.models))

    async def _finished(self, embed: _Embed, items: _Items, purpose: Purpose) -> _Vectors:
        """Await an embedding; it continues when the caller is cancelled, and equal ones join it."""
        if is_previewed():
            await self._foresee(items, purpose)
        name = (self.embedder_id, purpose, *items)
        task = self._running.get(name)
        if task is None:
            self._require_open()
            # Outside `ended`, some exceptions of an embedder would end the process.
            task = asyncio.create_task(PluginCode.ended(embed(items, purpose)), name="vr-vectors")
            self._running[name] = task
            task.add_done_callback(lambda ended: self._end(name, ended))
        await asyncio.wait({task})
        return task.result()

    async def _foresee(self, items: _Items, purpose: Purpose) -> None:
        """Have the request of an embedder that asks models noted; it is not sent.

        Raises:
            VrError: CANCELLED or UNAVAILABLE, category PREVIEWED; BUDGET.
        """
        embedder = self._embedder()
        if self.models is not None and hasattr(embedder, "of_call"):
            with self._providers.contained(Embedder):
                await embedder.embed(list(items.values()), purpose)
        refuse_in_preview("embed")  # it may cost something, and others may wait for it

    def _end(self, name: tuple[str, ...], task: asyncio.Task[_Vectors]) -> None:
        del self._running[name]
        if not task.cancelled():
            task.exception()  # mark as retrieved: no caller may be left

    async def _embed_once(self, items: _Items, purpose: Purpose) -> _Vectors:
        """Embed in one process only what no other has embedded meanwhile."""
        known: _Vectors = {}

        async def embedded() -> bool:
            known.update(await self._known(purpose, items))
            return known.keys() >= items.keys()

        async with self._leases.held(
            f"vectors/{self.embedder_id}",
            until=embedded,
            patience=PATIENCE_S,
            without=lambda _error: True,
        ) as lease:
            if lease is None and not known:  # `until` was not called without a ledger
                await embedded()
            missing = {key: item for key, item in items.items() if key not in known}
            return known | (await self._embed(missing, purpose) if missing else {})

    async def _embed(self, items: _Items, purpose: Purpose) -> _Vectors:
        """Embed, and keep what each request gave: when the next one fails, it was not in vain."""
        made: _Vectors = {}
        waiting = iter(items.items())
        size = getattr(self._embedder(), "batch", len(items))
        while part := dict(islice(waiting, max(size, 1))):
            made |= await self._embed_part(part, purpose)
        return made

    async def _embed_part(self, items: _Items, purpose: Purpose) -> _Vectors:
        with self._providers.contained(Embedder):
            fresh = await self._embedder().embed(list(items.values()), purpose)
            if purpose == "query":  # for documents the store reports it
                _require_direction(fresh, self.dimension)
            vectors = zip(items, fresh, strict=True)
            made = {key: pack(f"{len(vector)}f", *vector) for key, vector in vectors}
        await self._remember(purpose, {key: made[key] for key in made if _is_sound(made[key])})
        return made

    async def _known(self, purpose: Purpose, keys: Collection[str]) -> _Vectors:
        embedder, size = self.embedder_id, array("f").itemsize * self.dimension
        try:
            return await self._table.known(purpose, embedder, keys, size)
        except VrError:
            return {}

    async def _remember(self, purpose: Purpose, vectors: _Vectors) -> None:
        embedder = self.embedder_id
        with suppress(VrError):
            await self._table.keep(purpose, embedder, vectors)


def _require_direction(vectors: Sequence[Sequence[float]], dimension: int) -> None:
    """Refuse vectors that no store can compare.

    Raises:
        ValueError: for a wrong length, or a number that is not finite.
    """
    for vector in vectors:
        if len(vector) != dimension:
            raise ValueError(f"a vector has {len(vector)} numbers, the embedder says {dimension}")
        if not _is_sound(pack(f"{len(vector)}f", *vector)):
            raise ValueError("a vector has numbers that are not finite")


def _is_sound(vector: bytes) -> bool:
    """Check that a vector has finite numbers: another one is asked for again, and not kept."""
    return all(map(math.isfinite, array("f", vector)))


def _unpacked(vector: bytes) -> list[float]:
    return array("f", vector).tolist()


def _key(item: str | Picture) -> str:
    """The SHA-256 of an item; no text begins with the byte that is put before a picture."""
    if isinstance(item, str):
        return hashlib.sha256(item.encode("utf-8", "surrogatepass")).hexdigest()
    digest = hashlib.sha256(b"\xff")
    digest.update(item.data)
    return digest.hexdigest()
