"""`vr init` sets up whichever model there is: a key found, a server here, a pasted key."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_fork import run_vr
from init_terminal import Terminal
from plugin_zoo import Zoo
from vr_testing import FakeOllama, FakeOpenAI

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="asks at a pseudo-terminal"),
]
GROQ, OPENAI, PASTED = "gsk_" + "a" * 24, "sk-" + "b" * 24, "gsk_" + "c" * 24
NOWHERE = "http://127.0.0.1:9"
AWAY = dict.fromkeys(("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL"), NOWHERE)
"""No local server of the machine that runs the tests is asked."""


class Newcomer:
    """A user with the plugin of models and nothing set up."""

    def __init__(self, folder: Path) -> None:
        self.zoo = Zoo(folder / "zoo")
        self.config = self.zoo.folder / "config"

    def at_terminal(self, *arguments: str, **variables: str) -> Terminal:
        """Begin `vr init`, and answer that no folder is to be read."""
        terminal = Terminal(self.zoo, *arguments, **self._environment(variables))
        terminal.answer("Folders:", "")
        return terminal

    def at_pipe(self, *arguments: str, **variables: str) -> Any:
        """Run `vr` where nobody can be asked."""
        return run_vr(
            self.zoo.environment(**self._environment(variables)), self.zoo.work, *arguments
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The user's own settings."""
        file = self.config / "config.toml"
        return tomllib.loads(file.read_text("utf-8")) if file.exists() else {}

    def _environment(self, variables: dict[str, str]) -> dict[str, str]:
        return {"VR_PLUGINS": "models", **AWAY, **variables}


@pytest.fixture
def user(tmp_path: Path) -> Newcomer:
    """A user for one test."""
    return Newcomer(tmp_path)


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    """A server with models that answer, one that embeds and one that is elsewhere."""
    with FakeOllama() as fake:
        fake.models = {"qwen3-vl:8b", "llama3.2", "bge-m3", "gpt-oss:120b-cloud"}
        yield fake


@pytest.fixture
def groq() -> Iterator[FakeOpenAI]:
    """A service that takes one key."""
    with FakeOpenAI() as fake:
        fake.keys, fake.models = {PASTED}, {"one", "two"}
        yield fake


def test_each_key_that_is_found_is_asked_about_once(user: Newcomer) -> None:
    keys = {"GROQ_API_KEY": GROQ, "OPENAI_API_KEY": OPENAI}
    terminal = user.at_terminal(**keys)
    terminal.answer("GROQ_API_KEY: set here. Requests to groq go to api.groq.com.", "y")
    terminal.answer("OPENAI_API_KEY: set here. Requests to openai go to api.openai.com.", "n")
    terminal.answer("Clients [", "none")
    terminal.answer("Write this?", "y")
    assert terminal.end() == 0
    assert user.settings == {"models": {"agreed": ["groq"], "declined": ["openai"]}}
    assert "reads and answers  groq/" in terminal.said
    again = user.at_terminal(**keys)
    again.answer("Clients [", "none")
    assert again.end() == 0
    assert "2. Models. Set up: groq.\n3. Which clients?" in again.said
    assert not any(key in terminal.said + again.said for key in keys.values())
    doctor = user.at_pipe("doctor", "--json", **keys).data
    (found,) = [it for it in doctor["checks"] if it["name"] == "model providers"]
    assert (found["level"], "openai" in found["what"]) == ("ok", False)


def test_an_address_that_is_refused_is_told_and_not_asked_about(user: Newcomer) -> None:
    terminal = user.at_terminal(GROQ_API_KEY=GROQ, GROQ_BASE_URL="http://10.0.0.5:8080/v1")
    terminal.answer("Service, or none", "none")
    terminal.answer("Clients [", "none")
    assert terminal.end() == 0
    said = " ".join(terminal.said.split())
    assert 'add "10.0.0.5:8080" to allowed_hosts in [kernel.http].' in said
    assert "Use groq?" not in said


def test_a_model_of_a_local_server_is_chosen(user: Newcomer, ollama: FakeOllama) -> None:
    here = {"OLLAMA_HOST": ollama.url}
    terminal = user.at_terminal(**here)
    terminal.answer("with llama3.2, qwen3-vl:8b.\n", "llama4")
    terminal.answer("Did you mean 'llama3.2'?", "")
    terminal.answer("Clients [", "none")
    terminal.answer("Write this?", "y")
    assert terminal.end() == 0
    chosen = {"ollama_model": "llama3.2", "ollama_base_url": ollama.url}
    assert user.settings == {"plugins": {"models": chosen}}
    assert "reads and answers  ollama/llama3.2" in terminal.said
    again = user.at_terminal(**here)
    again.answer("Clients [", "none")
    assert again.end() == 0
    assert "2. Models. Set up: ollama." in again.said


def test_a_server_that_was_declined_is_not_offered_again(
    user: Newcomer, ollama: FakeOllama
) -> None:
    for question in ("Model of ollama, or none [llama3.2]:", ""):
        terminal = user.at_terminal(OLLAMA_HOST=ollama.url)
        if question:
            terminal.answer(question, "none")
        terminal.answer("Service, or none [gemini]:", "none")
        terminal.answer("Clients [", "none")
        if question:
            terminal.answer("Write this?", "y")
        assert terminal.end() == 0
    assert user.settings == {"models": {"declined": ["ollama"]}}


def test_the_key_of_any_service_can_be_pasted(user: Newcomer, groq: FakeOpenAI) -> None:
    """It is tried by a list of models, which costs nothing; what is refused is asked for again."""
    user.config.mkdir()
    (user.config / "config.toml").write_text(
        f'[plugins.models]\ngroq_base_url = "{groq.url}"\n'
        f'[kernel.http]\nallowed_hosts = ["{groq.url.split("/")[2]}"]\n'
    )
    terminal = user.at_terminal()
    terminal.answer("Service, or none [gemini]:", "grok")
    terminal.answer("Did you mean 'groq'?", "groq")
    terminal.answer("groq key (hidden):", "your-key")
    terminal.answer("is a placeholder. Copy it again.\ngroq key (hidden):", GROQ)
    terminal.answer("groq key (hidden):", PASTED)
    terminal.answer("Clients [", "none")
    assert "Not taken, try another: Groq refused the key" in terminal.said
    assert "groq takes it, and offers 2 models." in terminal.said
    terminal.answer("Write this?", "y")
    assert terminal.end() == 0
    assert not any(key in terminal.said for key in (PASTED, GROQ))
    assert [it.action for it in groq.requests] == ["models.list"] * 2
    assert "reads and answers  groq/" in terminal.said
    kept = user.config / ".env"
    assert kept.read_text("utf-8") == f"GROQ_API_KEY={PASTED}\n"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_at_a_pipe_nothing_is_agreed_to_unless_it_is_named(
    user: Newcomer, ollama: FakeOllama
) -> None:
    found = {"GROQ_API_KEY": GROQ, "OLLAMA_HOST": ollama.url}
    silent = user.at_pipe("init", **found)
    assert silent.code == 2
    assert "Found and not used: GROQ_API_KEY." in silent.stderr
    assert "ollama runs here with llama3.2, qwen3-vl:8b." in silent.stderr
    assert "`vr init --use groq --yes`" in silent.stderr
    for name, said in (("grok", "Did you mean 'groq'?"), ("mistral", "MISTRAL_API_KEY")):
        refused = user.at_pipe("init", "--use", name, "--yes", **found)
        assert (refused.code != 0, said in refused.stderr) == (True, True)
    assert user.settings == {}
    given = ("init", "--use", "groq", "--use", "ollama/qwen3-vl:8b", "--yes", "--json")
    done = user.at_pipe(*given, **found)
    assert done.data["models"]["answers"][-1] == "ollama/qwen3-vl:8b"
    chosen = {"ollama_model": "qwen3-vl:8b", "ollama_base_url": ollama.url}
    agreed = {"models": {"agreed": ["groq"]}, "plugins": {"models": chosen}}
    assert user.settings == agreed
    assert not user.at_pipe(*given, **found).data["written"]
    assert user.at_pipe("init", "--decline", "groq", "--yes", **found).code == 0
    assert user.settings["models"] == {"agreed": [], "declined": ["groq"]}
    kept = ("init", "--service", "groq", "--key-from-env", "--yes")
    assert user.at_pipe(*kept, **found).code == 0
    assert (user.config / ".env").read_text("utf-8") == f"GROQ_API_KEY={GROQ}\n"
    assert GROQ not in str([silent, done])
