"""A place in the result cache for one result of a model's shape."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from vr_kernel.calls.result_cache import ResultCache

M = TypeVar("M", bound=BaseModel)
_WORDS = ("title", "description")


@dataclass(frozen=True, slots=True)
class CachedModel(Generic[M]):
    """One result by its key and its shape. A value that does not fit is a miss, and deleted.

    Args:
        key: under which it is kept; names the shape, too.
        former: the key that earlier versions used, without the shape. A value found there is moved
            to `key` if it fits.
        shape: the model of the result.
        cache: where it is kept.
    """

    key: str
    former: str
    shape: type[M]
    cache: ResultCache

    async def get(self) -> M | None:
        """The result; None when it is missing, too old, damaged or of another shape."""
        while (found := await self.cache.find(self.key, self.former)) is not None:
            key, row = found
            value = self._read(row)
            if value is None:
                await self.cache.delete(key)
                continue
            if key != self.key:
                await self.cache.move(key, self.key)
            return value
        return None

    async def put(self, value: M, *, content_id: str = "", tool: str = "", model: str = "") -> None:
        """Keep the result; the names are for `infra_cache` to list and clear by."""
        row = self.dump(value)
        await self.cache.set(self.key, row, content_id=content_id, tool=tool, model=model)

    async def delete(self) -> None:
        """Forget the result."""
        for key in (self.key, self.former):
            await self.cache.delete(key)

    def dump(self, value: M) -> dict[str, Any]:
        """The result in its stored form: the fields of the shape, in JSON."""
        row: dict[str, Any] = TypeAdapter(self.shape).dump_python(value, mode="json")
        return row

    def _read(self, row: dict[str, Any]) -> M | None:
        try:
            value = self.shape.model_validate(row)
        except ValidationError:
            return None
        whole = self.dump(value)
        # A shape without required fields would accept an empty or foreign row.
        required = any(field.is_required() for field in self.shape.model_fields.values())
        complete = required or row.keys() == whole.keys()
        return value if complete and _holds(whole, row) else None


def digest(shape: type[BaseModel]) -> str:
    """A digest of a model's shape: of its JSON schema without titles and descriptions."""
    plain = json.dumps(_plain(shape.model_json_schema()), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _plain(value)
        for name, value in schema.items()
        if not (name in _WORDS and isinstance(value, str))
    }


def _holds(whole: Any, kept: Any) -> bool:
    """True when a value has everything in a row, so that nothing in the row was ignored."""
    if isinstance(kept, dict):
        return isinstance(whole, dict) and all(
            name in whole and _holds(whole[name], value) for name, value in kept.items()
        )
    if isinstance(kept, list):
        return isinstance(whole, list) and len(whole) == len(kept) and all(map(_holds, whole, kept))
    return True
