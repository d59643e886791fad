"""Every fault of a request for vectors, at every family that makes some."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from modelskit import provider_at
from vr_kernel import Code, ModelProvider, VrError
from vr_testing import FakeOllama, FakeOpenAI, Fault

TEXTS = ["a cat on a mat", "the moon"]
MODEL = "own-embedding"


@pytest.fixture(params=["openai_compatible", "azure_openai", "ollama"])
async def asked(request: pytest.FixtureRequest) -> AsyncIterator[tuple[ModelProvider, Any]]:
    """A provider of each family, and the fake service behind it."""
    with FakeOllama() if request.param == "ollama" else FakeOpenAI() as service:
        azure = request.param == "azure_openai"
        url = service.url.removesuffix("/v1") if azure else service.url
        own = {"api_key": "any", "embedding_model": MODEL}
        async with provider_at(request.param, url, **own) as provider:
            yield provider, service


async def failure(provider: ModelProvider) -> VrError:
    with pytest.raises(VrError) as caught:
        await provider.embed(MODEL, TEXTS, "document", None)
    return caught.value


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, Code.INVALID_INPUT, False),
        (401, Code.AUTH, False),
        (404, Code.NOT_FOUND, False),
        (429, Code.QUOTA, True),
        (500, Code.UNAVAILABLE, True),
        (503, Code.UNAVAILABLE, True),
    ],
)
async def test_a_status_means_the_same_for_vectors(
    asked: tuple[ModelProvider, Any], status: int, code: Code, retryable: bool
) -> None:
    provider, service = asked
    service.fail(Fault.status(status))
    error = await failure(provider)
    assert (error.code, error.retryable) == (code, retryable)


@pytest.mark.parametrize("fault", [Fault.lost(), Fault.truncated("closed")])
async def test_vectors_that_do_not_arrive_may_be_asked_for_again(
    asked: tuple[ModelProvider, Any], fault: Fault
) -> None:
    provider, service = asked
    service.fail(fault)
    error = await failure(provider)
    assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        "vectors",
        {"data": [], "embeddings": []},
        {"data": [{"embedding": [1.0, 0.0], "index": 0}], "embeddings": [[1.0, 0.0]]},
        {
            "data": [{"embedding": "?", "index": at} for at in range(2)],
            "embeddings": ["?", "?"],
        },
        {
            "data": [{"embedding": None, "index": at} for at in range(2)],
            "embeddings": [None, None],
        },
    ],
)
async def test_vectors_in_another_shape_or_number_cannot_be_read(
    asked: tuple[ModelProvider, Any], value: object
) -> None:
    provider, service = asked
    service.fail(Fault.reshaped(value))
    error = await failure(provider)
    assert (error.code, error.category) == (Code.UNAVAILABLE, "REPLY_UNREADABLE")


async def test_an_embedding_model_that_does_not_exist_is_answered_with_those_that_do(
    asked: tuple[ModelProvider, Any],
) -> None:
    provider, service = asked
    service.models = {"own-embedding-2"}
    error = await failure(provider)
    assert error.code is Code.NOT_FOUND
    assert "Did you mean 'own-embedding-2'" in error.hint
