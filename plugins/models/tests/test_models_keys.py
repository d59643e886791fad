"""Without a key: errors and the doctor name what is missing, and that any provider will do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from vr_kernel import Code, Diagnosis, VrError
from vr_kernel.diagnosis import kernel_checks
from vr_plugin_models import plugin
from vr_testing import TrialKernel, open_kernel

ANY = "Any other provider will do as well: see `vr init` and `infra_models`."
FOUND = {"GROQ_API_KEY": "key-of-another-program"}
LOCAL = {"plugins.models.ollama_model": "qwen3"}


async def refusal(kernel: TrialKernel, **how: Any) -> VrError:
    """The error of a question that nobody can be asked."""
    with pytest.raises(VrError) as caught:
        await kernel.services.models.generate("Who?", **how)
    return caught.value


def found_by(kernel: TrialKernel, name: str) -> Diagnosis:
    """The finding of a check of models."""
    config = kernel.config
    checks = kernel_checks(config.environ, config.paths.state, config, kernel)
    (check,) = [check for topic, check in checks if (topic, check.name) == ("models", name)]
    found = check.examine()
    assert isinstance(found, Diagnosis)
    return found


@pytest.mark.parametrize(
    ("how", "variable"),
    [({}, "GEMINI_API_KEY"), ({"model": "groq/openai/gpt-oss-120b"}, "GROQ_API_KEY")],
)
async def test_without_any_key_any_provider_will_do(how: dict[str, str], variable: str) -> None:
    async with open_kernel({"models": plugin}) as kernel:
        error = await refusal(kernel, **how)
        assert (error.code, variable in error.hint) == (Code.AUTH, True)
        assert error.hint.endswith(ANY)
        found = found_by(kernel, "gemini key")
        assert (found.level, found.fix.endswith(ANY)) == ("warning", True)
        assert found_by(kernel, "model providers").what == "None is configured."
    async with open_kernel({}) as kernel:  # there is no other
        assert ANY not in (await refusal(kernel)).hint
        assert ANY not in found_by(kernel, "gemini key").fix


async def test_a_key_that_is_there_and_not_used_is_named() -> None:
    async with open_kernel({"models": plugin}, variables=FOUND) as kernel:
        for hint in ((await refusal(kernel)).hint, found_by(kernel, "gemini key").fix):
            assert hint.endswith(
                "Found and not used: GROQ_API_KEY; if meant, set agreed = ['groq'] in [models]."
            )
            assert FOUND["GROQ_API_KEY"] not in hint


@pytest.mark.parametrize(
    ("settings", "ready"),
    [
        (LOCAL, "ollama"),
        ({"plugins.models.groq_api_key": "a-key-of-the-configuration"}, "groq"),
    ],
)
async def test_gemini_needs_no_key_where_another_is_ready(
    settings: Mapping[str, object], ready: str
) -> None:
    async with open_kernel({"models": plugin}, settings=settings) as kernel:
        found = found_by(kernel, "gemini key")
        assert (found.level, found.what) == (
            "ok",
            f"Not needed: {ready} is ready.",
        )
        asked = await refusal(kernel, model="gemini/gemini-3.8-flash")
        assert (asked.code, ANY in asked.hint) == (Code.AUTH, False)
