"""Every variable that the programs before this one read: it sets something here, or doctor says so.

One process is asked what all of them together set, and one what it does not read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from re import findall
from typing import Any, Self

import pytest
from command_fork import run_vr

Environment = Callable[..., dict[str, str]]
CANARY = "canary-0123456789"
PROVIDERS = (
    *("OPENAI", "OPENAI_COMPATIBLE", "AZURE_OPENAI", "ANTHROPIC", "ANTHROPIC_COMPATIBLE"),
    *("OPENROUTER", "ZENMUX", "ZAI", "GROQ", "CEREBRAS", "MISTRAL", "FIREWORKS", "TOGETHER"),
    *("DEEPSEEK", "SAMBANOVA", "NEBIUS"),
)
"""Those of a former system, as its variables name them."""
SET = [
    # variable, text, section, key, and what `vr config show` says of it
    ("GEMINI_API_KEY", CANARY, "models", "gemini_api_keys", ["set"]),
    ("GEMINI_MODEL", "gemini-x", "models", "gemini_model", "gemini-x"),
    ("GEMINI_FLASH_MODEL", "gemini-y", "models", "gemini_flash_model", "gemini-y"),
    ("GEMINI_THINKING_LEVEL", "low", "models", "thinking_level", "low"),
    ("GEMINI_TEMPERATURE", "0.2", "models", "temperature", 0.2),
    ("GEMINI_RETRY_MAX_ATTEMPTS", "5", "models", "attempts", 5),
    ("GEMINI_RETRY_BASE_DELAY", "0.5", "models", "retry_base_delay_s", 0.5),
    ("GEMINI_RETRY_MAX_DELAY", "30", "models", "retry_max_delay_s", 30.0),
    ("GEMINI_CONTEXT_CACHE_TTL", "120", "models", "context_cache_ttl_s", 120.0),
    ("CLEAR_CACHE_ON_SHUTDOWN", "yes", "models", "clear_context_caches", True),
    ("GEMINI_CACHE_TTL_DAYS", "3", "kernel", "cache_ttl_days", 3.0),
    ("LOCAL_FILE_ACCESS_ROOT", "/films", "kernel", "allowed_roots", ["/films"]),
    ("WEAVIATE_URL", "http://localhost:9", "store", "backend", "weaviate"),
    ("WEAVIATE_URL", "http://localhost:9", "plugins.knowledge", "weaviate_url", None),
    ("WEAVIATE_API_KEY", CANARY, "plugins.knowledge", "weaviate_api_key", "set"),
    ("COHERE_API_KEY", CANARY, "plugins.knowledge", "cohere_api_key", "set"),
    ("RERANKER_ENABLED", "false", "plugins.knowledge", "reranker_enabled", False),
    ("RERANKER_PROVIDER", "flashrank", "plugins.knowledge", "reranker_provider", "flashrank"),
    ("FLASH_SUMMARIZE", "false", "plugins.knowledge", "flash_summarize", False),
    ("YOUTUBE_API_KEY", CANARY, "plugins.video", "youtube_api_key", "set"),
    ("GEMINI_API_KEY", CANARY, "plugins.video", "gemini_api_key", "set"),
    ("GEMINI_MAX_SESSIONS", "7", "plugins.video", "max_sessions", 7),
    ("GEMINI_SESSION_TIMEOUT_HOURS", "5", "plugins.video", "session_timeout_hours", 5.0),
    ("GEMINI_SESSION_MAX_TURNS", "9", "plugins.video", "session_max_turns", 9),
    ("GEMINI_SESSION_DB", "/kept/talks.db", "plugins.video", "session_db_path", "/kept/talks.db"),
    ("GEMINI_TRACING_ENABLED", "false", "plugins.tracing", "enabled", False),
    ("MLFLOW_TRACKING_URI", "http://localhost:9", "plugins.tracing", "mlflow_uri", None),
    ("MLFLOW_EXPERIMENT_NAME", "talks", "plugins.tracing", "mlflow_experiment", "talks"),
    ("PROVIDER_HIERARCHY", "groq,openai", "models", "hierarchy", ["groq", "openai"]),
    ("VRLMRAG_PROVIDER", "nebius", "models", "provider", None),
    ("VRLMRAG_MODEL", "glm", "models", "model", None),
    ("VRLMRAG_TEMPLATE", "fast-free", "models", "template", None),
    ("GOOGLE_FALLBACK_MODEL", "gemini-3.8-flash", "models", "gemini_fallback_model", None),
    ("GOOGLE_RECURSIVE_MODEL", "gemini-3.8-flash", "models", "gemini_recursive_model", None),
    *(
        (f"{name}_API_KEY", CANARY, "plugins.models", f"{name.lower()}_api_key", "set")
        for name in PROVIDERS
    ),
    *(
        (f"{name}_{part}", "own", "plugins.models", f"{name.lower()}_{part.lower()}", None)
        for name in PROVIDERS
        for part in ("MODEL", "FALLBACK_MODEL", "RECURSIVE_MODEL")
    ),
    ("NEBIUS_CONTEXT_WINDOW", "64000", "plugins.models", "nebius_context_window", 64000),
    ("ZAI_CODING_PLAN", "false", "plugins.models", "zai_coding_plan", False),
    ("OPENAI_BASE_URL", "https://a.example", "plugins.models", "openai_base_url", None),
    ("ANTHROPIC_BASE_URL", "https://c.example", "plugins.models", "anthropic_base_url", None),
    ("AZURE_OPENAI_ENDPOINT", "https://b.example", "plugins.models", "azure_openai_base_url", None),
    ("AZURE_OPENAI_API_VERSION", "2026-01-01", "plugins.models", "azure_openai_api_version", None),
    ("OLLAMA_HOST", "127.0.0.1:11434", "plugins.models", "ollama_base_url", None),
    ("VRLMRAG_VLM_MODEL", "omni", "plugins.models", "zenmux_vision_model", None),
    ("VRLMRAG_VLM_BASE_URL", "https://c.example", "plugins.models", "zenmux_base_url", None),
    ("VRLMRAG_EMBEDDING_MODEL", "e5", "plugins.models", "openrouter_embedding_model", None),
    (
        "VRLMRAG_EMBEDDING_BASE_URL",
        "https://d.example",
        "plugins.models",
        "openrouter_base_url",
        None,
    ),
]
UNREAD = findall(
    r"\w+",
    """
    DOC_MAX_DOWNLOAD_BYTES DOC_PREPARE_CONCURRENCY DOC_PHASE_CONCURRENCY
    INFRA_MUTATIONS_ENABLED INFRA_ADMIN_TOKEN
    VRLMRAG_ROOT VRLMRAG_MAX_DEPTH
    VRLMRAG_MAX_ITERATIONS VRLMRAG_COLLECTIONS VRLMRAG_COLLECTIONS_ROOT
    VRLMRAG_LOG_LEVEL VRLMRAG_MCP_SETTINGS VRLMRAG_TEXT_ONLY VRLMRAG_USE_API
    VRLMRAG_TEXT_ONLY_MODEL VRLMRAG_LOCAL_EMBEDDING_MODEL VRLMRAG_RERANKER_MODEL
    YOUTUBE_TRANSCRIPTION_MAX_CONCURRENT_REQUESTS
    """,
)


@pytest.fixture(scope="module")
def shown(fresh_environment: Environment) -> dict[str, Any]:
    """The settings while every variable is set."""
    given = {variable: text for variable, text, *_ in SET}
    return ask("config", "show", "--origin", "--json", environment=fresh_environment(**given))


@pytest.mark.parametrize(("variable", "text", "section", "key", "value"), SET)
def test_it_sets_something(
    shown: dict[str, Any], variable: str, text: str, section: str, key: str, value: object
) -> None:
    assert shown[section][key] == {
        "value": text if value is None else value,
        "origin": f"variable {variable}",
    }
    assert CANARY not in json.dumps(shown)


@pytest.mark.slow
def test_doctor_names_what_is_not_read(fresh_environment: Environment, tmp_path: Path) -> None:
    environment = fresh_environment(**dict.fromkeys(UNREAD[1:], CANARY))
    file = Path(environment["HOME"], ".config", "video-research-mcp", ".env")
    file.parent.mkdir(parents=True)
    file.write_text(f"{UNREAD[0]}=true\nGEMINI_CACHE_DIR={tmp_path}\n", encoding="utf-8")
    report = ask("doctor", "--json", environment=environment, codes=(0, 3))
    found = {"warning": "", "ok": ""}
    for check in report["checks"]:
        if check["name"].startswith("variables: "):
            found[check["level"]] += check["what"]
            assert check["fix"] or check["level"] == "ok"
    assert [name for name in UNREAD if name not in found["warning"]] == []
    assert CANARY not in json.dumps(report)
    assert any(str(tmp_path) in check["what"] for check in report["checks"])


@pytest.mark.slow
def test_the_token_of_the_model_hub_is_sent(fresh_environment: Environment, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper", reason="needs the extra stt")
    with Hub() as hub:
        variables = {"HF_TOKEN": CANARY, "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0"}
        variables |= {"HF_HOME": str(tmp_path), "VR_STATE_DIR": str(tmp_path / "state")}
        command = [sys.executable, "-m", "vr_cli", "video", "fetch-models", "large-v1"]
        subprocess.run(
            command, env=fresh_environment(**variables), capture_output=True, check=False
        )
    assert f"Bearer {CANARY}" in hub.tokens


def ask(*command: str, environment: dict[str, str], codes: tuple[int, ...] = (0,)) -> Any:
    """The JSON that `vr` answers a command with."""
    done = run_vr(environment, Path.cwd(), *command)
    assert done.code in codes, done.stderr
    return done.data


class Hub(ThreadingHTTPServer):
    """A hub that has no model, and keeps the tokens it was shown."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.tokens: set[str | None] = set()
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class Asked(BaseHTTPRequestHandler):
    """One request."""

    server: Hub

    def do_HEAD(self) -> None:
        self.server.tokens.add(self.headers["Authorization"])
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()

    def log_message(self, *_: object) -> None:
        """Say nothing."""
