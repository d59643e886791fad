"""Names of attributes, metrics and operations: the one table of conventions.

Those of `gen_ai` and `mcp` are in OpenTelemetry's conventions for generative AI, which are still
in development; names beginning with `vr` are ours.
"""

from __future__ import annotations

from collections.abc import Mapping

SCOPE = "vr_plugin_tracing"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
RESPONSE_MODEL = "gen_ai.response.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
THINKING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - of another kind
TOOL = "gen_ai.tool.name"
WORKFLOW = "gen_ai.workflow.name"
METHOD = "mcp.method.name"
ERROR = "error.type"
PERSON = "enduser.id"
PERSON_HASH = "enduser.pseudo.id"

PLUGIN = "vr.plugin"
CALL = "vr.call.id"
CALLED_FROM = "vr.tool"
WORKSPACE = "vr.workspace"
WORKSPACE_HASH = "vr.workspace.hash"
ROLE = "vr.role"
PURPOSE = "vr.purpose"
ATTEMPT = "vr.attempt"
CATEGORY = "vr.error.category"
COST = "vr.cost_usd"
TOTAL_INPUT = "vr.usage.input_tokens"
TOTAL_OUTPUT = "vr.usage.output_tokens"
REQUESTS = "vr.requests"
CACHED = "vr.cached"
RECORDS = "vr.records"
DELETIONS = "vr.deletions"
RUN = "vr.run"
LINK = "vr.link"
STATE = "vr.job.state"

CALL_TOOL = "tools/call"
EXECUTE_TOOL = "execute_tool"
INVOKE_WORKFLOW = "invoke_workflow"
RESUMED_FROM = "resumed"

OPERATIONS: Mapping[str, str] = {
    "generate": "chat",
    "stream": "chat",
    "embed": "embeddings",
    "cache": "create_cache",
    "research": "invoke_agent",
}
"""Operations by the purpose of a request."""
GEMINI = "gemini"
GENERATE_CONTENT = "generate_content"
"""Gemini's own name for `chat`."""
PROVIDERS: Mapping[str, str] = {
    GEMINI: "gcp.gemini",
    "azure_openai": "azure.ai.openai",
    "mistral": "mistral_ai",
}
"""Providers that the conventions call otherwise than we do."""

CALL_DURATION = "mcp.server.operation.duration"
REQUEST_DURATION = "gen_ai.client.operation.duration"
TOKENS = "gen_ai.client.token.usage"
CALLS = "vr.calls"
ERRORS = "vr.errors"
SPENT = "vr.cost"
RECORDED = "vr.records"
JOBS = "vr.jobs"

CALL_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
REQUEST_SECONDS = tuple(0.01 * 2**power for power in range(14))
TOKEN_COUNTS = tuple(4**power for power in range(14))
"""Bounds of histograms, as the conventions advise."""


def operation_of(provider: str, purpose: str) -> str:
    """Return the conventional name of an operation."""
    name = OPERATIONS.get(purpose, purpose)
    return GENERATE_CONTENT if (provider, name) == (GEMINI, "chat") else name


def provider_of(name: str) -> str:
    """Return the conventional name of a provider."""
    return PROVIDERS.get(name, name)
