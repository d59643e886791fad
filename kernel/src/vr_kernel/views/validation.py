"""Checks what a view is made of, and removes what nobody can see from its texts."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from vr_kernel.text.visible_text import all_visible, result_text, visible

Read = Callable[[Any], Any]
ADDRESSES = frozenset({"address", "link", "source", "image"})
"""Fields with addresses and paths, which stay usable; who shows them makes them visible."""
LARGEST = sys.float_info.max
"""Of numbers; NaN and infinity are none."""
BLOCK = "block"
"""The name under which data says which block it is."""
_PICTURE = re.compile("data:image/(?:jpeg|png);base64,")
LARGEST_INT = 2**63
"""Largest whole number; more digits say nothing."""
_WHOLE, _NUMBER = "a whole number", "a number"
_WORDS = {
    str: "text",
    int: _WHOLE,
    float: _NUMBER,
    bool: "True or False",
    bytes: "bytes",
    NoneType: "None",
}


class NestedTooDeeplyError(TypeError):
    """A view holds too many views within each other."""


class _UnfitError(TypeError):
    """A value is of another type than the one that is wanted."""

    def __init__(self, wanted: Sequence[str], value: Any) -> None:
        *most, last = wanted
        either = f"{', '.join(most)} or {last}" if most else last
        super().__init__(f"takes {either}, not {type(value).__name__}")
        self.wanted = wanted
        self.value = value


class Validator:
    """Checks values by the types of the fields that they are for.

    Args:
        names: of all types that the fields name.
        block: the class of all blocks.
        whole: the class whose instances are checked already.
    """

    def __init__(self, names: Mapping[str, Any], block: type, whole: type) -> None:
        self._names = {**names}
        self._block_class = block
        self._whole = whole
        self._readers: dict[type, dict[str, Read]] = {}
        self._blocks = {
            name: it
            for name, it in names.items()
            if isinstance(it, type) and issubclass(it, block) and it is not block
        }

    def validated(self, value: Any) -> dict[str, Any]:
        """The fields of an object, checked and cleaned.

        Raises:
            TypeError: naming the first that does not fit.
        """
        of: type = type(value)
        readers = self._readers.get(of) or self._readers.setdefault(of, self._made(of))
        return {name: read(getattr(value, name)) for name, read in readers.items()}

    def read(self, of: type, data: Any) -> Any:
        """The object that data describes; names that are not known are left out.

        Raises:
            TypeError: for data that does not fit, naming the first.
        """
        if isinstance(data, dict):
            known = {field.name for field in fields(of)}
            if missing := _required(of) - data.keys():
                raise TypeError(f"{of.__name__} needs {', '.join(sorted(missing))}")
            data = of(**{name: each for name, each in data.items() if name in known})
        _require(type(data) is of, f"a {of.__name__}", data)
        return data if of is self._whole else of(**self.validated(data))

    def _made(self, of: type) -> dict[str, Read]:
        hints = get_type_hints(of, self._names)
        return {
            field.name: _named(of, field.name, self._reader(hints[field.name], field.name))
            for field in fields(of)
        }

    def _reader(self, hint: Any, name: str) -> Read:
        """A function that returns a value of that type, or raises TypeError."""
        if hint is Any:
            return _json
        if hint is self._block_class:
            return self._block
        if get_origin(hint) is not None:
            return self._composed(hint, name)
        of: Any = hint
        return partial(self.read, of) if is_dataclass(hint) else _plain(of, name)

    def _composed(self, hint: Any, name: str) -> Read:
        """A function for values of a type that is made of others."""
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Literal:
            return partial(_one_of, inner)
        readers = [self._reader(each, name) for each in inner]
        if bytes in inner:
            return partial(_picture, _any_of(readers))
        if origin in (UnionType, Union):
            return _any_of(readers)
        if origin is tuple:
            return _tuple(readers)
        return _mapping(readers[1]) if issubclass(origin, Mapping) else _sequence(readers[0])

    def _block(self, value: Any) -> Any:
        name = value.get(BLOCK) if isinstance(value, dict) else type(value).__name__
        known = self._blocks.get(name) if isinstance(name, str) else None
        _require(known, "a block", value)
        assert known is not None
        return self.read(known, value)


def _required(of: type) -> set[str]:
    """Names of the fields that have no default."""
    return {it.name for it in fields(of) if it.default is MISSING and it.default_factory is MISSING}


def _json(value: Any) -> Any:
    """A JSON value, cleaned."""
    try:
        return all_visible(json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        raise TypeError("takes a JSON value") from None


def _picture(read: Read, value: Any) -> Any:
    """The address of a picture, or its bytes, which are an address in data."""
    found = _PICTURE.match(value) if isinstance(value, str) else None
    try:
        return read(b64decode(value[found.end() :], validate=True) if found else value)
    except ValueError:
        raise TypeError("takes the address or the bytes of a picture") from None


def _named(of: type, name: str, read: Read) -> Read:
    def checked(value: Any) -> Any:
        try:
            return read(value)
        except NestedTooDeeplyError:  # from within: the way to it says nothing
            raise
        except TypeError as error:
            raise TypeError(f"{of.__name__}.{name}: {error}") from None

    return checked


def _any_of(readers: Sequence[Read]) -> Read:
    def read(value: Any) -> Any:
        failed = []
        for each in readers:
            try:
                return each(value)
            except TypeError as error:
                failed.append(error)
        raise _nearest(failed, value)

    return read


def _nearest(failed: Sequence[TypeError], value: Any) -> TypeError:
    """The error of the alternative that a value is of; of none, one that names them all."""
    wanted: dict[str, None] = {}
    for each in failed:
        if not isinstance(each, _UnfitError) or each.value is not value:
            return each
        wanted |= dict.fromkeys(each.wanted)
    if _NUMBER in wanted:
        wanted.pop(_WHOLE, None)
    return _UnfitError([*wanted], value)


def _one_of(choices: tuple[Any, ...], value: Any) -> Any:
    _require(value in choices, f"one of {', '.join(map(repr, choices))}", value)
    return choices[choices.index(value)]


def _tuple(readers: Sequence[Read]) -> Read:
    def read(value: Any) -> Any:
        _require(isinstance(value, list | tuple) and len(value) == len(readers), "a pair", value)
        return tuple(each(it) for each, it in zip(readers, value, strict=True))

    return read


def _mapping(inner: Read) -> Read:
    def read(value: Any) -> Any:
        _require(isinstance(value, Mapping), "a mapping", value)
        return {visible(str.__str__(str(key))): inner(each) for key, each in value.items()}

    return read


def _sequence(inner: Read) -> Read:
    def read(value: Any) -> Any:
        _require(isinstance(value, list | tuple), "a list", value)
        return tuple([inner(each) for each in value])

    return read


def _plain(of: Any, name: str) -> Read:
    clean = _address if name in ADDRESSES else visible

    def read(value: Any) -> Any:
        if of is str:
            _require(isinstance(value, str), _WORDS[of], value)
            shown = clean(str.__str__(value))  # a class made of str may answer otherwise
            return "" if shown.isspace() else shown
        if of is float:
            _require(type(value) in (int, float), _NUMBER, value)
            _require_size(value, LARGEST)
            return value
        _require(type(value) is of, _WORDS[of], value)
        if of is int:
            _require_size(value, LARGEST_INT)
        return value

    return read


def _require_size(number: float, most: float) -> None:
    """Refuse NaN, infinity, and whole numbers that are too large."""
    if not abs(number) <= most:
        wanted = "a finite number" if isinstance(number, float) else "a number below 2**63"
        raise TypeError(f"takes {wanted}")


def _address(text: str) -> str:
    """An address or a path; one with half characters is no text, and opens nothing any more."""
    shown = result_text(text)
    return shown if shown.isascii() else shown.encode(errors="replace").decode()


def _require(holds: object, wanted: str, value: Any) -> None:
    if not holds:
        raise _UnfitError([wanted], value)
