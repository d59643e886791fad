"""Secrets of every kind, each told apart, and the machine they are hidden in."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

PLAIN = (
    "GEMINI_API_KEY", "GEMINI_API_KEYS first", "GEMINI_API_KEYS second", "GOOGLE_API_KEY",
    "VR_HTTP_TOKEN", "VR_HTTP_TOKENS anna", "WEAVIATE_API_KEY", "COHERE_API_KEY", "OPENAI_API_KEY",
    "proxy password", "base address password", "LEAKY_API_KEY", "leaky keys", "leaky password",
    "leaky strict_key", "user .env", "config.toml key", "folder .env", "project vr.toml",
    "address password", "address key", "address token", "address signature", "wrong token",
)  # fmt: skip
"""What each secret is for."""


def canary(name: str) -> str:
    """A secret in no known shape, told apart by its number; letters that no encoding changes."""
    return f"cNrY{PLAIN.index(name):02}vQ7zLm4Tx9Kd"


CANARIES = {name: canary(name) for name in PLAIN}
ADDRESSES = (
    f"https://me:{CANARIES['address password']}@example.com/talk.mp4",
    f"https://example.com/talk.mp4?key={CANARIES['address key']}",
    f"https://example.com/talk.mp4?a=b&access_token={CANARIES['address token']}#x",
    f"https://example.com/talk.mp4?X-Amz-Signature={CANARIES['address signature']}",
)

# A paid call can be done again after a crash, so its arguments are kept as they were given.
LEDGER = ("jobs.db", "jobs.db-wal")
ARGUMENTS = ("address password",)


def found_in(content: bytes) -> list[str]:
    """The names of the secrets that stand in these bytes, as they are or quoted."""
    return [
        name
        for name, value in CANARIES.items()
        if value.encode() in content or quote(value, safe="").encode() in content
    ]


@dataclass
class Machine:
    """Folders of a user who keeps secrets in many places."""

    folder: Path
    gemini_url: str
    allowed: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.work = self.folder / "work"
        self.packages = self.folder / "packages"
        for made in (self.work, self.packages, self.folder / "config", self.folder / "home"):
            made.mkdir(parents=True)
        self._install()
        self._write(
            self.folder / "config" / ".env",
            f"OTHER_API_KEY={CANARIES['user .env']}\n"
            f"VR_LEAKY__STRICT_KEY={CANARIES['leaky strict_key']}\n",
        )
        self._write(
            self.folder / "config" / "config.toml",
            f'[models]\ngemini_api_keys = ["{CANARIES["config.toml key"]}"]\n'
            f'[plugins.leaky]\nkeys = ["{CANARIES["leaky keys"]}"]\n'
            f'deeper = {{ password = "{CANARIES["leaky password"]}" }}\n',
        )
        self._write(
            self.work / ".env",
            f"GEMINI_API_KEY={CANARIES['folder .env']}\nVR_LOG_LEVEL=error\n"
            "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nVR_DISABLED=leaky\n",
        )
        self._write(
            self.work / "vr.toml",
            f'[models]\ngemini_api_keys = ["{CANARIES["project vr.toml"]}"]\n'
            '[kernel]\nlog_level = "error"\n',
        )

    def environment(self, **more: str) -> dict[str, str]:
        """Secrets in variables; everything logs as much as it can."""
        keys = f"{CANARIES['GEMINI_API_KEYS first']},{CANARIES['GEMINI_API_KEYS second']}"
        scheme, _, place = self.gemini_url.partition("://")
        named = (
            "GEMINI_API_KEY", "GOOGLE_API_KEY", "VR_HTTP_TOKEN", "WEAVIATE_API_KEY",
            "COHERE_API_KEY", "OPENAI_API_KEY", "LEAKY_API_KEY",
        )  # fmt: skip
        return {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            **{name: CANARIES[name] for name in named},
            "GEMINI_API_KEYS": keys,
            "VR_HTTP_TOKENS": f"anna:{CANARIES['VR_HTTP_TOKENS anna']}",
            "HTTPS_PROXY": f"http://me:{CANARIES['proxy password']}@127.0.0.1:9",
            "GOOGLE_GEMINI_BASE_URL": f"{scheme}://me:{CANARIES['base address password']}@{place}",
            "VR_LEAKY__SERVICE_URL": f"https://me:{CANARIES['base address password']}@x.example",
            "GEMINI_RETRY_BASE_DELAY": "0.01",
            "HOME": str(self.folder / "home"),
            "VR_CONFIG_DIR": str(self.folder / "config"),
            "VR_STATE_DIR": str(self.folder / "state"),
            "VR_CACHE_DIR": str(self.folder / "cache"),
            "VR_LOG_LEVEL": "debug",
            "PYTHONPATH": str(self.packages),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

    def leaks(self) -> list[str]:
        """Files, by name or content, that hold a secret and are not where the user put it."""
        found = []
        for path in sorted(self.folder.rglob("*")):
            names = found_in(os.fsencode(path.relative_to(self.folder)))
            if path.is_file() and path not in self.allowed:
                inside = found_in(path.read_bytes())
                names += [n for n in inside if not (path.name in LEDGER and n in ARGUMENTS)]
            found += [f"{path.relative_to(self.folder)}: {name}" for name in names]
        return found

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        self.allowed.add(path)

    def _install(self) -> None:
        shutil.copy(Path(__file__).with_name("leaky_plugin.py"), self.packages)
        about = self.packages / "vr_plugin_leaky-1.0.dist-info"
        about.mkdir()
        needs = "Requires-Dist: vr-kernel\n"
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: vr-plugin-leaky\nVersion: 1.0\n{needs}", "utf-8"
        )
        (about / "entry_points.txt").write_text("[vr.plugins]\nleaky = leaky_plugin\n", "utf-8")


VR = (sys.executable, "-m", "vr_cli")
