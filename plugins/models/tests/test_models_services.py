"""The services of models to choose among: those that run here, and those that were declined."""

from __future__ import annotations

import pytest
from vr_kernel import VrError
from vr_kernel.models import model_services, running_servers, working_models
from vr_plugin_models import plugin
from vr_testing import FakeOllama, FakeOpenAI, open_kernel

NOWHERE = "http://127.0.0.1:9"


async def test_servers_here_offer_models_that_answer_here() -> None:
    with FakeOllama() as ollama, FakeOpenAI() as lmstudio, FakeOllama() as no_vllm:
        ollama.models = {"qwen3", "bge-m3", "gpt-oss:120b-cloud"}
        lmstudio.models = {"gemma-4"}
        settings = {
            "plugins.models.ollama_base_url": ollama.url,
            "plugins.models.lmstudio_base_url": f"{lmstudio.url}/v1",
            "plugins.models.vllm_base_url": no_vllm.url,
        }
        async with open_kernel({"models": plugin}, settings=settings) as kernel:
            offers = await running_servers(kernel)
            assert offers == {"ollama": ["qwen3"], "lmstudio": ["gemma-4"]}
            named = {each.name: each for each in model_services(kernel)}
            assert named["ollama"].model_setting == "plugins.models.ollama_model"
            assert (named["ollama"].local, named["groq"].local) == (True, False)
            assert (await working_models(kernel))["answers"] == []


async def test_a_declined_key_is_used_by_nobody_and_not_told_of() -> None:
    variables = {"GROQ_API_KEY": "key-of-another-program", "OLLAMA_HOST": NOWHERE}
    settings = {"models.declined": '["groq"]'}
    async with open_kernel({"models": plugin}, settings=settings, variables=variables) as kernel:
        assert await running_servers(kernel) == {}
        (groq,) = [each for each in model_services(kernel) if each.name == "groq"]
        assert (groq.ready, groq.used, groq.declined, groq.found) == (True, False, True, ())
        with pytest.raises(VrError) as refused:
            await kernel.services.models.generate("Who?", model="groq/openai/gpt-oss-120b")
        assert refused.value.category == "PROVIDER_NOT_AGREED"
        with pytest.raises(VrError) as without:
            await kernel.services.models.generate("Who?")
        assert "GROQ_API_KEY" not in without.value.hint


@pytest.mark.parametrize(
    ("model", "able", "sees"),
    [
        ("moondream", {"vision"}, True),  # its name does not tell
        ("gemma3:1b", {"tools"}, False),  # the larger ones of this name see
        ("gemma3:1b", None, True),  # an older server, which does not say
    ],
)
async def test_the_server_says_what_its_models_can_do(
    model: str, able: set[str] | None, sees: bool
) -> None:
    with FakeOllama() as ollama:
        ollama.capabilities = able or set()
        ollama.tells_capabilities = able is not None
        settings = {
            "plugins.models.ollama_base_url": ollama.url,
            "plugins.models.ollama_model": model,
        }
        async with open_kernel({"models": plugin}, settings=settings) as kernel:
            working = await working_models(kernel)
            assert working["pictures"] == [f"ollama/{model}"] * sees
            (info,) = await kernel.services.models.described("vision")
            assert ("image" in info.accepts) == sees
            assert [each for each in ollama.requests if each.generates] == []
