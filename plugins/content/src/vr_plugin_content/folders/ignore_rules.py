"""Rules of ignore files, as Git reads them, and of what is left out without any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pathspec import GitIgnoreSpec
from pathspec.pattern import RegexPattern

from vr_plugin_content.folders.listing import Reason

IGNORE_FILES = (".gitignore", ".ignore")
"""Names of ignore files; of two in a folder the second one counts more."""
FILE_BYTES = 262_144
"""Largest ignore file that is read."""
MOST_PATTERNS = 1_000
"""Patterns of one ignore file that are used."""
MOST_CHARS = 300
"""Longest pattern."""
MOST_STARS = 2
"""Stars of a pattern that is always used: the time of matching grows by the length with each."""
MOST_STARRED = 20
"""Patterns of one file with one star more; still more stars could be matched for ever."""
NEVER = frozenset({".git", ".hg", ".svn"})
"""Folders of version control, which no rule takes in."""
USUAL = (
    "node_modules/", "bower_components/", "__pycache__/", ".venv/", "venv/", "target/", "build/",
    ".tox/", ".nox/", ".mypy_cache/", ".ruff_cache/", ".pytest_cache/", ".hypothesis/", ".gradle/",
    ".next/", ".nuxt/", ".terraform/", ".DS_Store",
)  # fmt: skip
"""Installed, made and kept by tools. An ignore file takes one in with a line such as `!build/`."""
SECRET = (
    ".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template", "*.pem", "*.key", "*.p12",
    "*.pfx", "*.kdbx", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".npmrc",
    ".pypirc", ".git-credentials", ".htpasswd",
)  # fmt: skip
"""Names of files that hold secrets by custom, which must not reach a model by accident."""
_STARS = re.compile(r"\*+")


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one place, the last of which that matches decides."""

    above: int
    reason: Reason
    patterns: tuple[RegexPattern, ...]

    def says(self, path: str) -> bool | None:
        """Tell if a path is ignored; None when no pattern is about it."""
        inner = path[self.above :]
        for pattern in reversed(self.patterns):
            if pattern.include is not None and _matches(pattern, inner):
                return pattern.include
        return None


class IgnoreRules:
    """The rules that hold in one folder: its own first, then those of the folders above."""

    def __init__(self, rules: tuple[_Rules, ...] | None = None) -> None:
        """Begin with what is left out everywhere; `rules` are for this class alone."""
        self._rules = rules if rules is not None else tuple(_everywhere())

    def below(self, folder: str, texts: Iterable[str]) -> IgnoreRules:
        """Return the rules that hold in a folder with these ignore files.

        Args:
            folder: its path, without a `/` at the end; empty for the uppermost.
            texts: of its ignore files, in the order of `IGNORE_FILES`.
        """
        above = len(folder) + 1 if folder else 0
        added = [_Rules(above, Reason.IGNORED, _parsed(text)) for text in texts]
        own = tuple(rules for rules in reversed(added) if rules.patterns)
        return IgnoreRules(own + self._rules) if own else self

    def reason(self, path: str, *, is_folder: bool = False) -> Reason | None:
        """Return why a path is left out; None for one that is not.

        Args:
            path: below a folder that is not left out itself.
            is_folder: whether it is a folder, for the patterns that are about folders alone.
        """
        if is_folder and path.rpartition("/")[2].lower() in NEVER:
            return Reason.USUAL
        asked = f"{path}/" if is_folder else path
        for rules in self._rules:
            said = rules.says(asked)
            if said is not None:
                return rules.reason if said else None
        return None


def _everywhere() -> Iterator[_Rules]:
    yield _Rules(0, Reason.SECRET, _compiled(SECRET))
    yield _Rules(0, Reason.USUAL, _compiled(USUAL))


def _parsed(text: str) -> tuple[RegexPattern, ...]:
    return _compiled(_bounded(text.lstrip("\ufeff").splitlines()))


def _compiled(lines: Iterable[str]) -> tuple[RegexPattern, ...]:
    found: list[RegexPattern] = []
    for line in lines:
        try:
            found += GitIgnoreSpec.from_lines([_as_git(line)]).patterns
        except ValueError:  # Git passes over what is no pattern, too
            continue
    return tuple(found)


def _as_git(line: str) -> str:
    """Write out `x/**`, which pathspec takes for `x` as well: it is everything in that folder."""
    kept = line.rstrip()
    if kept.endswith("/**"):
        return f"{kept}/*"
    return f"{kept}*/" if kept.endswith("/**/") else line


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    """Yield the patterns that can be matched in a short time, whatever the names are."""
    used = starred = 0
    for line in lines:
        stars = len(_STARS.findall(line))
        if not line.strip() or line.startswith("#") or len(line) > MOST_CHARS:
            continue
        starred += stars > MOST_STARS
        if stars > MOST_STARS + 1 or (stars > MOST_STARS and starred > MOST_STARRED):
            continue
        used += 1
        if used > MOST_PATTERNS:
            return
        yield line


def _matches(pattern: RegexPattern, path: str) -> bool:
    """True when a pattern matches a path itself, and not a folder above it.

    A match that ends with the mark of a folder is one of the path only at the path's end.
    """
    found = pattern.match_file(path)
    if found is None:
        return False
    if found.match.lastgroup is None or found.match.end() == len(path):
        return True
    return found.match.re.search(path, len(path) - 1) is not None
