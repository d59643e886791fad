"""The settings of `[models]` as they are now."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import ThinkingLevel
from vr_kernel.generation.requests import THINKING_LEVELS

HIGHEST_TEMPERATURE = 2


class ModelConfiguration:
    """The settings of `[models]` as they are now; `change` holds for later calls."""

    def __init__(self, settings: ModelsSettings) -> None:
        self.current = settings

    def change(self, **changes: Any) -> ModelsSettings:
        """Replace some settings, all or none.

        Raises:
            VrError: INVALID_INPUT when one does not fit.
        """
        merged = {name: getattr(self.current, name) for name in ModelsSettings.model_fields}
        try:
            self.current = ModelsSettings.model_validate({**merged, **changes})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise VrError(
                f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}.",
                Code.INVALID_INPUT,
                hint="Nothing was changed.",
            ) from None
        return self.current

    def chosen(
        self, thinking: str | None, temperature: float | None
    ) -> tuple[ThinkingLevel, float]:
        """Return the caller's choice, or the configured one where that is None.

        Raises:
            VrError: INVALID_INPUT for an invalid level or temperature.
        """
        level = self.current.thinking_level if thinking is None else thinking
        degree = self.current.temperature if temperature is None else temperature
        for known in THINKING_LEVELS:
            if known == level and 0 <= degree <= HIGHEST_TEMPERATURE:
                return known, degree
        raise VrError(
            f"There is no thinking level {level!r} with a temperature of {degree}.",
            Code.INVALID_INPUT,
            hint=f"{'' if level in THINKING_LEVELS else did_you_mean(level, THINKING_LEVELS)}"
            f"Levels: {', '.join(THINKING_LEVELS)};"
            f" temperatures: 0 to {HIGHEST_TEMPERATURE}.",
        )
