"""Arguments by name: the model made from a signature, and the error for those that do not fit."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from vr_kernel.errors import Code, VrError, did_you_mean

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
"""Kinds of a parameter that can be given without its name."""
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
NO_NUMBER = "input should be a number, not true or false"
MESSAGE_LIMIT = 2000
"""Maximum length of the description of what does not fit, in characters."""
NEAR_NAMES, NEAR_LENGTH = 5, 64
"""Number of unknown names, and characters of each, for which the nearest known one is sought."""
MOST_TOLD = 1000
"""Maximum number of problems listed; listing a million would block all other requests."""


def arguments_model(
    what: str, parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any]
) -> type[BaseModel]:
    """The model of a function's arguments; `what` names the function, such as `tool infra_cache`.

    Raises:
        TypeError: when a parameter has no annotation or cannot be given by its name.
    """
    fields: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name not in hints:
            raise TypeError(f"{what}: {parameter.name} has no annotation")
        if parameter.kind not in _BY_NAME:
            raise TypeError(f"{what}: {parameter} cannot be given by its name")
        default = ... if parameter.default is parameter.empty else parameter.default
        info = default if isinstance(default, FieldInfo) else FieldInfo(default=default)
        fields[parameter.name] = (hints[parameter.name], info)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    with warnings.catch_warnings():  # an argument may be named as pydantic's own `schema`
        warnings.filterwarnings("ignore", "Field name .* shadows an attribute", UserWarning)
        return create_model(f"{what.rpartition(' ')[2]}_arguments", __config__=config, **fields)


def validate(
    name: str,
    model: type[BaseModel],
    given: Mapping[str, Any],
    spelled: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Arguments of the declared types, defaults filled in.

    Args:
        name: of what takes them.
        model: of the arguments.
        given: by name.
        spelled: returns the name of an argument as the caller writes it.

    Raises:
        VrError: INVALID_INPUT, naming each argument that does not fit.
    """
    _require_plain(name, given)
    if (many := len(given.keys() - model.model_fields.keys())) > MOST_TOLD:
        raise _refusal(name, [f"{many:,} unknown names"], "", map(spelled, model.model_fields))
    try:
        made = model.model_validate(given)
    except ValidationError as error:
        if (many := error.error_count()) > MOST_TOLD:
            problem = f"{many:,} values do not fit"
            raise _refusal(name, [problem], "", map(spelled, model.model_fields)) from None
        raise _rejected(name, list(model.model_fields), error, given, spelled) from None
    values = {field: getattr(made, field) for field in model.model_fields}
    if places := list(_booleans(given, values)):
        problems = [f"{'.'.join([spelled(first), *rest])}: {NO_NUMBER}" for first, *rest in places]
        raise _refusal(name, problems, "", map(spelled, values))
    return values


def _booleans(given: Any, made: Any) -> Iterator[list[str]]:
    """The places where true or false was given for a number: pydantic reads them as 1 and 0."""
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(given, bool) and type(made) in (int, float):
        yield []
    elif given is made:  # unchanged, however deep
        return
    elif isinstance(given, Mapping):
        fields = made if isinstance(made, Mapping) else getattr(made, "__dict__", {})
        pairs = ((key, value, fields.get(key)) for key, value in given.items())
    elif isinstance(given, (list, tuple)) and isinstance(made, (list, tuple)):
        pairs = zip(range(len(made)), given, made, strict=False)
    for key, value, taken in pairs:
        yield from ([str(key), *rest] for rest in _booleans(value, taken))


def _rejected(
    name: str,
    known: list[str],
    error: ValidationError,
    given: Mapping[str, Any],
    spelled: Callable[[str], str],
) -> VrError:
    items = error.errors(include_url=False)
    unknown = [str(item["loc"][0]) for item in items if item["type"] == "extra_forbidden"]
    hint = "".join(did_you_mean(each[:NEAR_LENGTH], known) for each in unknown[:NEAR_NAMES])
    hint += "".join(map(_near_choice, items))
    return _refusal(name, _problems(items, given, spelled), hint, map(spelled, known))


def _refusal(name: str, problems: Iterable[str], hint: str, known: Iterable[str]) -> VrError:
    shown = _visible("; ".join(problems)[:MESSAGE_LIMIT])[:MESSAGE_LIMIT].rstrip(".")
    return VrError(
        f"{name}: {shown}.",
        Code.INVALID_INPUT,
        hint=f"{hint}Arguments: {', '.join(known) or 'none'}.",
    )


def _problems(
    items: Sequence[Any], given: Mapping[str, Any], spelled: Callable[[str], str]
) -> Iterator[str]:
    """Describe what does not fit, once per argument: a union fails once for each of its types."""
    told: dict[str, list[str]] = {}
    for item in items:
        first, *rest = _place(item, given) or ["arguments"]
        message = _message(item)
        told.setdefault(".".join([spelled(first), *rest]), []).append(message)
    for where, messages in told.items():
        yield f"{where}: {', or '.join(dict.fromkeys(messages))}"


def _place(item: Any, given: Mapping[str, Any]) -> list[str]:
    """The path to what does not fit, without the names that pydantic gives to unions."""
    value: Any = given
    path: list[str] = []
    for part in item["loc"]:
        indexed = isinstance(value, list) and isinstance(part, int)
        inside = indexed or (isinstance(value, Mapping) and part in value)
        if inside:
            value = value[part]
        if inside or (item["type"] == "missing" and part == item["loc"][-1]):
            path.append(str(part))
    return path


def _message(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "unknown name"
    cause = item.get("ctx", {}).get("error") if item["type"] == "value_error" else None
    message = str(cause or item["msg"]).rstrip(".")
    return f"{message[:1].lower()}{message[1:]}"


def _near_choice(item: Any) -> str:
    """The nearest of the values that an argument takes."""
    value = item.get("input")
    if item["type"] not in ("literal_error", "enum") or not isinstance(value, str):
        return ""
    choices = re.findall(r"'([^']*)'", str(item.get("ctx", {}).get("expected", "")))
    return did_you_mean(value[:NEAR_LENGTH].lower(), choices)


def _require_plain(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse text that no result, record or error could hold: lone surrogates."""
    where: list[str] = []
    value: Any = dict(arguments)
    if _is_plain(value):
        return
    while isinstance(value, (dict, list)) and len(where) < NEAR_NAMES:
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        key, value = next((pair for pair in inner if not _is_plain(pair[1])), (None, None))
        where += [] if key is None else [str(key)[:NEAR_LENGTH]]
    what = _visible(".".join(where)) or "a name"
    raise VrError(
        f"{name}: {what} holds half a character (a lone surrogate).",
        Code.INVALID_INPUT,
        hint="Give text that is valid Unicode.",
    )


def _is_plain(value: Any) -> bool:
    try:
        to_json(value, bytes_mode="base64", fallback=repr)
    except ValueError as error:  # also raised for depth, which the function itself judges
        return "UnicodeEncodeError" not in str(error)
    return True


def _visible(text: str) -> str:
    """One line in which invisible characters of a name or a plugin's message are visible."""
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
