"""Words that are taken for each other, and words that must not be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

SMALL = frozenset(
    str.split(
        "a an the of to in is and that it for on with are be as by at was were or from this these"
        " those he she we they you i his her its our their has have had been do does did but so"
        " der die das den dem des ein eine und zu im ist von mit le la les un une du et en el los"
        " las y il lo che di"
    )
)
"""Words that come and go where people speak fast: the articles, pronouns, and the like."""
FILLERS = frozenset(
    str.split("um uh er erm ah eh oh hm mhm like well so right okay ok you know i mean äh ähm euh")
)
"""Words that say nothing: they are in a transcript and not in a quote, or the other way."""
_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in str.split(
        "increase/decrease increases/decreases increased/decreased increasing/decreasing"
        " more/less more/fewer most/least higher/lower high/low larger/smaller"
        " large/small big/small"
        " greater/smaller greater/less above/below over/under before/after up/down and/or all/some"
        " always/sometimes always/seldom must/may must/can shall/may should/must better/worse"
        " best/worst good/bad true/false left/right inside/outside upper/lower maximum/minimum"
        " maximal/minimal max/min rise/fall rises/falls rose/fell gain/loss strong/weak fast/slow"
        " faster/slower hot/cold early/late earlier/later first/last old/new older/newer"
        " open/closed"
        " include/exclude includes/excludes included/excluded import/export imports/exports"
        " internal/external explicit/implicit explicitly/implicitly underestimate/overestimate"
        " underestimates/overestimates underestimated/overestimated ascending/descending"
        " attach/detach encode/decode induce/deduce micro/macro subsonic/supersonic"
        " he/she his/her him/her we/they our/their man/woman men/women this/that these/those"
    )
)
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "anti", "a", "mis", "de")
_ENDINGS = re.compile(r"(?:'?s|es|ed|d|ing|ly|er|en|al|n|e)$")
_LESS = re.compile(r"(?:less|free)(?:ly)?$")
_QUALITY = re.compile(r"(?:less|free|ful)?(?:ly)?$")
_STAMMERED = (1, 2, 3)
_SHORTEST_STEM = 3
_SPELLINGS = [
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"^(?:kn|gn|pn)", "n"),
        (r"^wr", "r"),
        (r"^ps", "s"),
        (r"^x", "s"),
        (r"[ts]ion|shun|cean", "Xan"),
        (r"[cst]i(?=a)", "X"),
        (r"ph", "f"),
        (r"igh|eigh", "a"),
        (r"augh(?=t)|ough(?=t)", "a"),
        (r"ough$", "a"),
        (r"gh", "g"),
        (r"tch|sch|sh|ch", "X"),
        (r"th(?=yme|omas|ames)", "t"),
        (r"th", "T"),
        (r"dge?|j|g(?=[eiy])", "J"),
        (r"sc(?=[eiy])", "s"),
        (r"c(?=[eiy])|z", "s"),
        (r"que$|ck|c|q", "k"),
        (r"x", "ks"),
        (r"wh", "w"),
        (r"mb$", "m"),
        (r"h", ""),
        (r"(?<=[aeiouy])w(?![aeiouy])", "a"),
        (r"(?<=[^aeiouy])e(?=s?$)", ""),
        (r"(?<=k)[uw](?=[aeiouy])", "w"),
        (r"(?<!^)y|^y(?![aeiou])|[aeiou]", "a"),
        (r"(.)\1+", r"\1"),
    )
]
_SAID_AS = {"1": {"won"}, "2": {"to", "too"}, "4": {"for", "fore"}, "8": {"ate"}}


@lru_cache(4096)
def sound_of(word: str) -> str:
    """About how an English word sounds: consonants, and vowels that are all one."""
    for pattern, sound in _SPELLINGS:
        word = pattern.sub(sound, word)
    return word


def sounds_as(one: str, other: str) -> bool:
    """True for words that sound the same, such as weight and wait, or 2 and to."""
    if one[0].isdigit() or other[0].isdigit():
        return other in _SAID_AS.get(one, ()) or one in _SAID_AS.get(other, ())
    return sound_of(one) == sound_of(other)


def same_stem(one: str, other: str) -> bool:
    """True when only the endings differ, as in obtain and obtained."""
    short, long = sorted((one, other), key=len)
    if len(short) >= _SHORTEST_STEM and long.startswith(short):
        return _ENDINGS.fullmatch(long, len(short)) is not None
    bare_one, bare_other = (_ENDINGS.sub("", word) for word in (one, other))
    shared = {bare_one, one} & {bare_other, other}
    return any(len(stem) >= _SHORTEST_STEM for stem in shared)


def are_opposed(one: str, other: str) -> bool:
    """True for words that look or stand alike and say the opposite, as likely and unlikely."""
    if frozenset((one, other)) in _OPPOSITES:
        return True
    for whole, bare in ((one, other), (other, one)):
        if any(whole == prefix + bare for prefix in _PREFIXES) and len(bare) > _SHORTEST_STEM:
            return True
    lacking = {bool(_LESS.search(word)) for word in (one, other)}
    return len(lacking) > 1 and _QUALITY.sub("", one) == _QUALITY.sub("", other)


def is_repeated(words: Sequence[str], at: int) -> bool:
    """True for a word that is said again, alone or in a few words, as people stammer."""
    for size in _STAMMERED:
        for begin in range(max(0, at - size + 1), at + 1):
            again = words[begin : begin + size]
            if again in (
                words[begin + size : begin + 2 * size],
                words[max(0, begin - size) : begin],
            ):
                return True
    return False
