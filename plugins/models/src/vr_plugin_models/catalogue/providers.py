"""The providers of language models: one row each, in the order in which they are asked.

Sources, read on 2026-11-26: the providers' own documentation of their OpenAI-compatible addresses,
and the model names of the price lists that `models.json` is made of. The order is that in which
VL-RAG-Graph-RLM walked its providers; the kernel's own Gemini comes before them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Family = Literal["openai", "azure", "anthropic", "ollama"]
SchemaWay = Literal["native", "json", "words"]


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """A provider.

    Args:
        name: in configuration and in the names of models.
        title: as people call it.
        address: base URL; empty when the user names it.
        family: the protocol that it speaks.
        model: the model for most work; empty when the user names it.
        fallback: asked when that one does not answer.
        small: for small work and the parts of large questions.
        vision: looks at pictures, where `model` does not.
        embedding: turns texts into vectors.
        before: another address that is tried first.
        keyless: whether it works without a key.
        local: whether it runs on the user's own machine.
        relays: whether it passes requests on to services elsewhere, wherever it runs.
        schema: how an answer in a shape is asked for: by a JSON schema, as any JSON with the
            schema in words, or in words alone.
        context: the window of models that are not known, in tokens; 0 when that is not known.
        effort: whether its models take `reasoning_effort`.
        variables: further environment variables, each with the setting that it is.
        embedded_items: most texts that are embedded in one request.
        embedded_tokens: most tokens of them all; 0 when that is not limited.
        takes_dimensions: whether it is told how long a vector is to be; else it is cut here.
        key_page: where a key is made.
        start: the command that starts it on the machine of the user.
    """

    name: str
    title: str
    address: str = ""
    family: Family = "openai"
    model: str = ""
    fallback: str = ""
    small: str = ""
    vision: str = ""
    embedding: str = ""
    before: str = ""
    keyless: bool = False
    local: bool = False
    relays: bool = False
    schema: SchemaWay = "native"
    context: int = 0
    effort: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    embedded_items: int = 100
    embedded_tokens: int = 0
    takes_dimensions: bool = False
    key_page: str = ""
    start: str = ""

    @property
    def variable(self) -> str:
        """The environment variable of its key; empty for a provider without keys."""
        return "" if self.keyless else f"{self.name.upper()}_API_KEY"

    @property
    def takes_loopback(self) -> bool:
        """True for a service that may run on this machine: it has no public address of its own."""
        return self.local or not self.address

    @property
    def may_be_here(self) -> bool:
        """True when a loopback address means that requests stay on this machine."""
        return self.takes_loopback and not self.relays


PROVIDERS: tuple[ProviderRow, ...] = (
    ProviderRow(
        "openai_compatible",
        "An OpenAI-compatible service",
        keyless=True,
        variables={"OPENAI_COMPATIBLE_API_KEY": "api_key"},
    ),
    ProviderRow("anthropic_compatible", "An Anthropic-compatible service", family="anthropic"),
    ProviderRow(
        "modalresearch",
        "Modal Research",
        "https://api.us-west-2.modal.direct/v1",
        model="zai-org/GLM-5-FP8",
        schema="json",
        variables={"MODAL_RESEARCH_API_KEY": "api_key"},
    ),
    ProviderRow(
        "sambanova",
        "SambaNova",
        "https://api.sambanova.ai/v1",
        model="DeepSeek-V3.2",
        fallback="DeepSeek-V3.1",
        small="gpt-oss-120b",
        vision="Llama-4-Maverick-17B-128E-Instruct",
        key_page="https://cloud.sambanova.ai/apis",
    ),
    ProviderRow(
        "nebius",
        "Nebius Token Factory",
        "https://api.tokenfactory.nebius.com/v1",
        model="MiniMaxAI/MiniMax-M2.5",
        fallback="zai-org/GLM-5.1",
        small="openai/gpt-oss-120b",
        vision="openbmb/MiniCPM-V-4_5",
        embedding="Qwen/Qwen3-Embedding-8B",
        key_page="https://tokenfactory.nebius.com",
    ),
    ProviderRow(
        "groq",
        "Groq",
        "https://api.groq.com/openai/v1",
        model="openai/gpt-oss-120b",
        fallback="qwen/qwen3.8-27b",
        small="openai/gpt-oss-20b",
        key_page="https://console.groq.com/keys",
    ),
    ProviderRow(
        "cerebras",
        "Cerebras",
        "https://api.cerebras.ai/v1",
        model="gpt-oss-120b",
        fallback="gemma-4-31b",
        vision="gemma-4-31b",
        key_page="https://cloud.cerebras.ai",
    ),
    ProviderRow(
        "zai",
        "z.ai",
        "https://api.z.ai/api/paas/v4",
        before="https://api.z.ai/api/coding/paas/v4",
        model="glm-5.1",
        fallback="glm-4.7",
        small="glm-5.3-flash",
        vision="glm-5v-turbo",
        schema="json",
        key_page="https://z.ai/manage-apikey/apikey-list",
    ),
    ProviderRow(
        "zenmux",
        "ZenMux",
        "https://zenmux.ai/api/v1",
        model="moonshotai/kimi-k2.5",
        fallback="z-ai/glm-5.1",
        vision="inclusionai/ming-flash-omni-preview",
        variables={
            "VRLMRAG_VLM_API_KEY": "api_key",
            "VRLMRAG_VLM_BASE_URL": "base_url",
            "VRLMRAG_VLM_MODEL": "vision_model",
        },
        key_page="https://zenmux.ai/settings/keys",
    ),
    ProviderRow(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        model="minimax/minimax-m2.1",
        fallback="deepseek/deepseek-v4-flash",
        vision="z-ai/glm-5v-turbo",
        embedding="openai/text-embedding-3-small",
        embedded_tokens=300_000,
        variables={
            "VRLMRAG_EMBEDDING_API_KEY": "api_key",
            "VRLMRAG_EMBEDDING_BASE_URL": "base_url",
            "VRLMRAG_EMBEDDING_MODEL": "embedding_model",
        },
        key_page="https://openrouter.ai/keys",
    ),
    ProviderRow(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/v1",
        model="deepseek-chat",
        fallback="deepseek-v4-flash",
        vision="deepseek-v4-flash-vision-exp",
        schema="json",
        key_page="https://platform.deepseek.com/api_keys",
    ),
    ProviderRow(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        model="gpt-6.1-terra",
        fallback="gpt-5.6-terra",
        small="gpt-6-luna",
        embedding="text-embedding-3-small",
        embedded_items=2048,
        embedded_tokens=300_000,
        takes_dimensions=True,
        effort=True,
        key_page="https://platform.openai.com/api-keys",
    ),
    ProviderRow(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com",
        family="anthropic",
        model="claude-sonnet-5-5",
        fallback="claude-sonnet-5",
        small="claude-haiku-5-5",
        key_page="https://console.anthropic.com/settings/keys",
    ),
    ProviderRow(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        model="mistral-large-latest",
        fallback="mistral-medium-latest",
        small="mistral-small-latest",
        embedding="mistral-embed",
        embedded_items=512,
        embedded_tokens=16_384,
        key_page="https://console.mistral.ai/api-keys",
    ),
    ProviderRow(
        "fireworks",
        "Fireworks",
        "https://api.fireworks.ai/inference/v1",
        model="accounts/fireworks/models/glm-5p1",
        fallback="accounts/fireworks/models/gpt-oss-120b",
        small="accounts/fireworks/models/gpt-oss-20b",
        vision="accounts/fireworks/models/minimax-m3",
        embedding="nomic-ai/nomic-embed-text-v1.5",
        takes_dimensions=True,
        key_page="https://app.fireworks.ai/settings/users/api-keys",
    ),
    ProviderRow(
        "together",
        "Together",
        "https://api.together.xyz/v1",
        model="MiniMaxAI/MiniMax-M2.7",
        fallback="zai-org/GLM-5.1",
        small="openai/gpt-oss-20b",
        vision="MiniMaxAI/MiniMax-M3",
        embedding="BAAI/bge-base-en-v1.5",
        key_page="https://api.together.ai/settings/api-keys",
    ),
    ProviderRow(
        "azure_openai",
        "Azure OpenAI",
        family="azure",
        variables={
            "AZURE_OPENAI_ENDPOINT": "base_url",
            "AZURE_OPENAI_DEPLOYMENT": "model",
            "OPENAI_API_VERSION": "api_version",
            "AZURE_OPENAI_API_VERSION": "api_version",
        },
        embedded_items=2048,
        embedded_tokens=300_000,
        takes_dimensions=True,
        effort=True,
    ),
    ProviderRow(
        "ernie",
        "Baidu ERNIE",
        "https://qianfan.baidubce.com/v2",
        model="ernie-4.5-turbo-128k",
        fallback="ernie-4.5-turbo-32k",
        vision="ernie-4.5-turbo-vl",
        schema="json",
        variables={"QIANFAN_API_KEY": "api_key", "BAIDU_API_KEY": "api_key"},
        key_page="https://console.bce.baidu.com/iam/#/iam/apikey/list",
    ),
    ProviderRow("litellm", "LiteLLM's proxy", keyless=True, relays=True),
    ProviderRow(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434",
        family="ollama",
        keyless=True,
        local=True,
        variables={"OLLAMA_HOST": "base_url"},
        start="ollama serve",
    ),
    ProviderRow(
        "lmstudio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        keyless=True,
        local=True,
        context=8_192,
    ),
    ProviderRow("vllm", "vLLM", "http://127.0.0.1:8000/v1", keyless=True, local=True),
)
TEMPLATES: Mapping[str, str] = {
    "fast-free": "sambanova/DeepSeek-V3.2",
    "fast-groq": "groq/openai/gpt-oss-120b",
    "fast-cerebras": "cerebras/zai-glm-4.7",
    "nebius-m2": "nebius/MiniMaxAI/MiniMax-M2.5",
    "openrouter-cheap": "openrouter/minimax/minimax-m2.1",
    "openai-mini": "openai/gpt-4o-mini",
    "anthropic-haiku": "anthropic/claude-haiku-4-5",
    "deepseek-chat": "deepseek/deepseek-chat",
}
"""Presets by name. Kimi K2 at Groq, MiniMax M2.1 at Nebius and Claude 3.5 Haiku, which three of
them once meant, are no longer served: their successors stand here."""
