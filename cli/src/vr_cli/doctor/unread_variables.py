"""Checks for variables that earlier programs read and this one does not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from vr_kernel import Check, Diagnosis
from vr_kernel.config import known_variables


@dataclass(frozen=True, slots=True)
class Unread:
    """Variables of one subject, and their replacement.

    `shared` says that other programs read them; `plugin` names one of ours that does, if installed.
    """

    subject: str
    names: tuple[str, ...]
    instead: str
    shared: bool = False
    plugin: str = ""


_PARTS = ("BASE_URL", "MODEL", "RECURSIVE_MODEL", "FALLBACK_MODEL")
_PROVIDERS = (
    *("OPENAI", "OPENAI_COMPATIBLE", "AZURE_OPENAI", "ANTHROPIC", "ANTHROPIC_COMPATIBLE"),
    *("OPENROUTER", "ZENMUX", "ZAI", "GROQ", "CEREBRAS", "MISTRAL", "FIREWORKS", "TOGETHER"),
    *("DEEPSEEK", "SAMBANOVA", "NEBIUS"),
)
UNREAD = (
    Unread(
        "tracing",
        ("GEMINI_TRACING_ENABLED", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"),
        "Install vr-plugin-tracing: pip install 'video-research[tracing]'.",
        plugin="tracing",
    ),
    Unread(
        "documents",
        ("DOC_MAX_DOWNLOAD_BYTES", "DOC_PREPARE_CONCURRENCY", "DOC_PHASE_CONCURRENCY"),
        "This version does no research in documents.",
    ),
    Unread(
        "other providers",
        tuple(f"{provider}_API_KEY" for provider in _PROVIDERS),
        "Install vr-plugin-models: pip install vr-plugin-models.",
        shared=True,
        plugin="models",
    ),
    Unread(
        "models of other providers",
        (
            *(f"{provider}_{part}" for provider in _PROVIDERS for part in _PARTS),
            *("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_VERSION", "ZAI_CODING_PLAN"),
            *("NEBIUS_CONTEXT_WINDOW", "VRLMRAG_EMBEDDING_MODEL", "VRLMRAG_EMBEDDING_API_KEY"),
            *("VRLMRAG_EMBEDDING_BASE_URL", "VRLMRAG_VLM_MODEL", "VRLMRAG_VLM_API_KEY"),
            "VRLMRAG_VLM_BASE_URL",
        ),
        "Install vr-plugin-models: pip install vr-plugin-models.",
        shared=True,
        plugin="models",
    ),
    Unread(
        "embeddings",
        (
            *("VRLMRAG_TEXT_ONLY", "VRLMRAG_USE_API", "VRLMRAG_TEXT_ONLY_MODEL"),
            "VRLMRAG_LOCAL_EMBEDDING_MODEL",
        ),
        "Set embedder in [store]: minilm, gemini, or a plugin's.",
    ),
    Unread(
        "reranking",
        ("VRLMRAG_RERANKER_MODEL",),
        "Set reranker_provider and reranker_model in [plugins.knowledge].",
    ),
    Unread(
        "recursion",
        ("VRLMRAG_MAX_DEPTH", "VRLMRAG_MAX_ITERATIONS"),
        "This version splits no questions up.",
    ),
    Unread(
        "collections",
        ("VRLMRAG_COLLECTIONS", "VRLMRAG_COLLECTIONS_ROOT"),
        "Set workspace in [store], and VR_STATE_DIR; VR_TOOLSETS says which tools are offered.",
    ),
    Unread(
        "server",
        ("VRLMRAG_ROOT", "VRLMRAG_MCP_SETTINGS", "VRLMRAG_LOG_LEVEL"),
        "Set VR_CONFIG_DIR, and VR_LOG_LEVEL.",
    ),
    Unread(
        "rights",
        ("INFRA_MUTATIONS_ENABLED", "INFRA_ADMIN_TOKEN"),
        "Over HTTP tokens in [kernel.serve] say who is let in.",
    ),
    Unread(
        "transcription",
        ("YOUTUBE_TRANSCRIPTION_MAX_CONCURRENT_REQUESTS",),
        "Set concurrency in [models].",
    ),
)


def unread_checks(environ: Mapping[str, str], plugins: Collection[str]) -> list[Check]:
    """A check for each subject with a variable that is set, in the environment or a `.env`.

    Args:
        environ: the variables.
        plugins: the names of those that are installed.
    """
    present = {name for name, value in known_variables(environ).items() if value}
    found = [(each, [name for name in each.names if name in present]) for each in UNREAD]
    return [_check(each, names) for each, names in found if names and each.plugin not in plugins]


def _check(unread: Unread, names: list[str]) -> Check:
    text = f"Set, but not read by this version: {', '.join(names)}."
    found = (
        Diagnosis.ok(f"{text} {unread.instead}")
        if unread.shared
        else Diagnosis.warning(text, unread.instead)
    )
    return Check(f"variables: {unread.subject}", lambda: found)
