"""No file holds places of one machine, unfinished work, or riddles for docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from workspace_tree import text_files

# A class of one letter keeps a pattern from finding itself.
BANNED = {
    "machine path": r"(?<![\w./}~-])/(wor[k]/(main|shared)|roo[t]/|tm[p]/(w|bash)|hom[e]/(?!me/)\w)"
    r"|/User[s]/\w|[A-Z]:\\User[s]\\",
    "registry host": r"pyp[i]\.org|pythonhoste[d]\.org|registry\.npmj[s]\.org|/op[t]/wheels"
    r"|--(extra-)?inde[x]-url|--find-link[s]",
    "conflict marker": r"^(<{7}|>{7}|\|{7}) |^={7}$(?=[\s\S]*^>{7})",
    "number of the tracker": r"(?i)\bissu[e]s?\s+(no\.?\s*)?#?\d|\(#\d+\)"
    r"|\b(fix(es)?|close[sd]?|refs?)\s+#\d",
    "unfinished work": r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K]|WI[P]"
    r"|(?i:tb[d]|not (?:yet )?implemente[d]|lorem ipsu[m]))\b|NotImplementedErro[r]",
    "how it was made": r"(?i)\bsub-?agen[t]s?\b|\bthe lea[d] (will|writes|owns)\b|\bthe brie[f]\b"
    r"|\bhelper sessio[n]|\bas an a[i]\b|\bwritten by an? (a[i]|mode[l]|agen[t])\b",
}
QUESTIONS = {
    "What", "Whether", "How", "Where", "Who", "When", "Which", "Why", "Whose", "Whom",
}  # fmt: skip
BEGINNING = re.compile(rf"""["']\s*`?({"|".join(sorted(QUESTIONS))})\b""")
"""Found in every file with such a docstring; parsing all files takes long."""
UNHELD = {"LICENSE"}  # the licence's own words


@pytest.mark.parametrize("what", BANNED)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(BANNED[what], re.MULTILINE)
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1} {match[0]!r}"
        for path, text in text_files()
        if path.rpartition("/")[2] not in UNHELD
        for match in pattern.finditer(text)
    ]
    assert not found, f"{what}:\n" + "\n".join(found)


def test_every_pattern_finds_what_it_is_for() -> None:
    samples = {
        "machine path": "/" + "root/x",
        "registry host": "https://pypi" + ".org/simple",
        "conflict marker": "<" * 7 + " HEAD",
        "number of the tracker": "see issue" + " 2",
        "unfinished work": "# TO" + "DO later",
        "how it was made": "a sub" + "agent",
    }
    assert samples.keys() == BANNED.keys()
    assert all(re.search(BANNED[what], text, re.MULTILINE) for what, text in samples.items())


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    asked = [
        f"{path}:{line} {first}"
        for path, text in text_files()
        if path.endswith(".py") and BEGINNING.search(text)
        for line, first in _beginnings(text)
        if first.split()[0].strip("`,.:;") in QUESTIONS
    ]
    assert not asked, "\n".join(asked)


def _beginnings(text: str) -> Iterator[tuple[int, str]]:
    """Line and first line of each docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            said = ast.get_docstring(node)
            if said:
                yield getattr(node, "lineno", 1), said.splitlines()[0]
