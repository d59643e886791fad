"""`[kernel.http]`, wherever it is set, and the fetcher that plugins are handed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import Call, Kernel, load_config
from vr_kernel.errors import VrError
from vr_kernel.tools import CALLS_OUT, READ_ONLY, tool
from web_service import Site, reply


def _toml(environ: dict[str, str], text: str) -> None:
    folder = Path(environ["VR_CONFIG_DIR"])
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text, "utf-8")


def test_defaults(environ: dict[str, str], working_folder: Path) -> None:
    http = load_config(environ, working_folder=working_folder).http
    assert (http.allowed_hosts, http.extra_ports) == ([], [])
    assert (http.deadline_s, http.max_bytes) == (60.0, 33_554_432)


def test_a_file(environ: dict[str, str], working_folder: Path) -> None:
    _toml(
        environ,
        '[kernel]\nstrict = true\n[kernel.http]\nallowed_hosts = ["Wiki.Example", "[::1]:90"]\n'
        "extra_ports = [8080]\nmax_bytes = 10\n",
    )
    config = load_config(environ, working_folder=working_folder)
    assert config.kernel.strict
    assert config.http.allowed_hosts == ["wiki.example", "[::1]:90"]
    assert (config.http.extra_ports, config.http.max_bytes) == ([8080], 10)
    origin = config.settings("kernel.http", type(config.http))["max_bytes"].origin
    assert origin.endswith("config.toml")


def test_variables_and_flags(environ: dict[str, str], working_folder: Path) -> None:
    environ |= {
        "VR_KERNEL__HTTP__ALLOWED_HOSTS": "localhost:8080, wiki.example",
        "VR_KERNEL__HTTP__EXTRA_PORTS": "8080,8443",
        "VR_KERNEL__HTTP__MAX_BYTES": "10",
    }
    config = load_config(environ, {"kernel.http.max_bytes": "20"}, working_folder)
    assert config.http.allowed_hosts == ["localhost:8080", "wiki.example"]
    assert config.http.extra_ports == [8080, 8443]
    assert config.http.max_bytes == 20


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ALLOWED_HOSTS", "*", "allowed_hosts"),
        ("ALLOWED_HOSTS", "http://localhost", "allowed_hosts"),
        ("ALLOWED_HOSTS", "a@b", "allowed_hosts"),
        ("EXTRA_PORTS", "0", "extra_ports"),
        ("EXTRA_PORTS", "99999", "extra_ports"),
        ("MAX_BYTES", "0", "max_bytes"),
        ("DEADLINE_S", "-1", "deadline_s"),
        ("MAX_BITES", "1", "max_bytes"),
    ],
)
def test_values_that_do_not_fit(
    environ: dict[str, str], working_folder: Path, name: str, value: str, said: str
) -> None:
    environ[f"VR_KERNEL__HTTP__{name}"] = value
    with pytest.raises(VrError) as caught:
        load_config(environ, working_folder=working_folder)
    assert caught.value.category == "CONFIG_INVALID"
    assert said in caught.value.message + caught.value.hint


def test_an_unknown_key_of_the_kernel_stays_one(
    environ: dict[str, str], working_folder: Path
) -> None:
    environ["VR_KERNEL__HTTPS__MAX_BYTES"] = "1"
    with pytest.raises(VrError, match="https__max_bytes"):
        load_config(environ, working_folder=working_folder)


def test_a_section_that_is_no_table(environ: dict[str, str], working_folder: Path) -> None:
    _toml(environ, "[kernel]\nhttp = 1\n")
    with pytest.raises(VrError, match=r"kernel\.http is not a section"):
        load_config(environ, working_folder=working_folder)


class Read(BaseModel):
    text: str


@tool(effects=READ_ONLY | CALLS_OUT)
async def web_read(call: Call, url: str) -> Read:
    """Read a page."""
    return Read(text=(await call.services.http.fetch(url)).text)


async def test_plugins_fetch_through_it(
    environ: dict[str, str], working_folder: Path, start: Any, make_plugin: Any
) -> None:
    async with Site({"/": reply()}).serving() as site:
        environ["VR_KERNEL__HTTP__ALLOWED_HOSTS"] = f"127.0.0.1:{site.port}"
        config = load_config(environ, working_folder=working_folder)
        kernel = await start({"web": make_plugin([web_read])}, config=config)
        read = await kernel.call("web_read", url=f"http://127.0.0.1:{site.port}/")
        assert read.text == "hello"
        with pytest.raises(VrError) as caught:
            await kernel.call("web_read", url="http://127.0.0.2/")
    assert caught.value.category == "URL_NOT_ALLOWED"


def test_nothing_heavy_is_imported_before_the_first_page() -> None:
    code = (
        "import sys, vr_kernel.http as h\n"
        "from vr_kernel.log import Log\n"
        "from vr_kernel.config.settings import HttpSettings\n"
        "h.Fetcher(HttpSettings(), log=Log('error', 'console'))\n"
        "print(sorted({'httpx2', 'httpcore2', 'anyio', 'idna', 'h11'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_settings_of_former_versions_are_accepted_without_effect(
    environ: dict[str, str], working_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = {
        "VR_KERNEL__HTTP__USER_AGENT": "mine",
        "VR_KERNEL__HTTP__MAX_REDIRECTS": "9",
        "VR_KERNEL__SERVE__PATH": "/elsewhere",
    }
    config = load_config({**environ, **given}, working_folder=working_folder)
    assert len(config.remarks) == 3
    async with Kernel.open(config, {}):
        pass
    said = capfd.readouterr().err
    assert "user_agent in [kernel.http] has no effect any more" in said
    assert "The server is at /mcp." in said
