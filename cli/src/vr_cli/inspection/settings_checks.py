"""Checks of a settings model: a plugin must start before anybody sets anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from vr_kernel import Diagnosis

from vr_cli.inspection.findings import Finding

_CHECK = "settings"
_SECRET = re.compile(r"(^|_)(key|password|secret|token)$")


def check_settings(model: Any) -> Iterator[Finding]:
    """Check for valid defaults, descriptions, and secrets with the type for secrets."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        fix = "Return a class derived from Section."
        yield (
            _CHECK,
            Diagnosis.fault(f"vr_settings returns {model!r:.80}, which is no model.", fix),
        )
        return
    for key, field in model.model_fields.items():
        yield from _check_field(key, field)
    yield from _check_defaults(model)


def _check_field(key: str, field: FieldInfo) -> Iterator[Finding]:
    if field.is_required():
        yield (
            _CHECK,
            Diagnosis.fault(
                f"{key} has no default: the plugin is out until somebody sets it.",
                "Give it one; a tool that needs the value raises VrError, Code.AUTH, with a hint.",
            ),
        )
    if field.annotation is str and _SECRET.search(key):
        yield (
            _CHECK,
            Diagnosis.warning(
                f"{key} is shown and logged as it is.", "Declare it as pydantic.SecretStr."
            ),
        )


def _check_defaults(model: type[BaseModel]) -> Iterator[Finding]:
    defaults = {
        key: field.get_default(call_default_factory=True, validated_data={})
        for key, field in model.model_fields.items()
        if not field.is_required()
    }
    try:
        model.model_validate(defaults)
    except ValidationError as failure:
        for problem in failure.errors(include_url=False, include_input=False):
            key = str(problem["loc"][0]) if problem["loc"] else "the section"
            if key in defaults or not problem["loc"]:
                message = f"The default of {key} does not fit: {problem['msg']}."
                yield (_CHECK, Diagnosis.fault(message, "Correct the default, or the type."))
