"""A text as a speech recogniser hears it: words misheard, and numbers in words."""

from __future__ import annotations

import random
import re

ERROR_SHARE = 0.15
"""Most of the words that a speech recogniser may get wrong here."""
SMALL = frozenset(
    str.split("a an the of to in is and that it for on with are be as by at was were")
)
_FILLERS = ("um", "uh", "er", "you know", "I mean", "like", "well", "so", "right", "okay")
_HOMOPHONES = [
    group.split("/")
    for group in str.split(
        "their/there to/too/two for/four here/hear wait/weight whether/weather which/witch"
        " than/then affect/effect accept/except principal/principle site/cite/sight by/buy"
        " be/bee in/inn or/ore our/hour some/sum so/sew write/right through/threw whole/hole"
        " new/knew see/sea seem/seam been/bin past/passed peace/piece plane/plain real/reel"
        " role/roll root/route scene/seen steel/steal tail/tale wear/where week/weak"
        " wood/would brake/break cell/sell cent/sent/scent coarse/course"
        " complement/compliment fair/fare find/fined great/grate higher/hire led/lead"
        " made/maid mail/male main/mane meet/meat pair/pear presence/presents"
        " patience/patients raise/rays read/red ring/wring road/rode side/sighed son/sun"
        " stationary/stationery straight/strait tide/tied time/thyme vary/very waist/waste"
        " way/weigh wave/waive of/off this/these is/as an/and model/modal data/date used/use"
        " form/farm method/methods basic/basics access/axis ensure/insure device/devise"
        " advice/advise formally/formerly discrete/discreet ascent/assent counsel/council"
        " current/currant air/heir bare/bear base/bass board/bored born/borne"
        " ceiling/sealing choose/chews core/corps days/daze dual/duel flow/floe flew/flu"
        " genes/jeans hall/haul idle/idol lessen/lesson links/lynx loan/lone medal/metal"
        " mode/mowed one/won pause/paws plate/plait pole/poll pores/pours prince/prints"
        " profit/prophet rows/rose sealed/sield soar/sore sole/soul source/sauce stake/steak"
        " sweet/suite their/they're there/they're threw/through throne/thrown towed/toad"
        " vain/vein wade/weighed war/wore we/wee whose/who's your/you're its/it's"
    )
]
_SOUNDS = {
    word: [o for g in _HOMOPHONES if word in g for o in g if o != word]
    for group in _HOMOPHONES
    for word in group
}
_RESPELLED = [
    ("ph", "f"),
    ("tion", "shun"),
    ("ck", "k"),
    ("ee", "ea"),
    ("ca", "ka"),
    ("co", "ko"),
    ("ce", "se"),
    ("ci", "si"),
    ("ge", "je"),
    ("ai", "ay"),
    ("x", "ks"),
    ("wh", "w"),
    ("kn", "n"),
    ("ll", "l"),
    ("ss", "s"),
    ("y", "i"),
    ("or", "er"),
]
_NEGATIONS = ("no", "not", "nor", "none", "never", "without", "cannot")
_UNITS = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = str.split("- - twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBER = re.compile(
    rf"\b(?:{'|'.join([*_UNITS, *_TENS[2:]])}|hundred|thousand|million"
    r"|first|second|third|fourth|fifth)\b",
    re.IGNORECASE,
)


def heard(text: str, rng: random.Random) -> str:
    """A text as a speech recogniser writes it, with few words wrong."""
    words = [_spoken_number(word, rng) for word in text.split()]
    left = max(int(ERROR_SHARE * len(words)), len(words) >= 7)
    for at in rng.sample(range(len(words)), min(left, len(words))):
        if left <= 0:
            break
        if words[at][:1].isalpha() and not re.search(_NUMBER, words[at]):
            words[at], cost = _misheard(words[at], rng)
            left -= cost
    return " ".join(filter(None, words))


def _misheard(word: str, rng: random.Random) -> tuple[str, int]:
    """A word as it was heard, and how many words are wrong by that."""
    bare = word.lower().rstrip(".,;:?!)")
    if bare in _NEGATIONS:
        return word, 0
    if bare in SMALL and rng.random() < 0.5:
        return "", 1
    if bare in _SOUNDS and rng.random() < 0.8:
        return rng.choice(_SOUNDS[bare]), 1
    if rng.random() < 0.2:
        filler = rng.choice(_FILLERS)
        return f"{filler} {word}", len(filler.split())
    return rng.choice([_repeated, _split, _shortened, _shortened])(word, bare, rng), 1


def _repeated(word: str, _: str, __: random.Random) -> str:
    return f"{word} {word}"


def _split(_: str, bare: str, rng: random.Random) -> str:
    if len(bare) < 7 or not bare.isalpha():
        return _respelled(bare, rng)
    at = rng.randint(3, len(bare) - 3)
    return f"{bare[:at]} {bare[at:]}"


def _shortened(_: str, bare: str, rng: random.Random) -> str:
    for ending in ("ing", "ed", "ly", "es", "s"):
        if bare.endswith(ending) and len(bare) > len(ending) + 3 and rng.random() < 0.7:
            return bare.removesuffix(ending)
    return _respelled(bare, rng)


def _respelled(word: str, rng: random.Random) -> str:
    fitting = [pair for pair in _RESPELLED if pair[0] in word]
    return word.replace(*rng.choice(fitting), 1) if fitting and len(word) > 3 else word


def _spoken_number(word: str, rng: random.Random) -> str:
    digits = re.fullmatch(r"(\d{1,4})([.,;]?)", word)
    if not digits or (len(digits[1]) > 1 and digits[1][0] == "0"):
        return word
    return spelled(int(digits[1]), rng) + digits[2]


def spelled(number: int, rng: random.Random) -> str:
    """A number below ten thousand in English words."""
    if number < 20:
        return _UNITS[number]
    if number < 100:
        unit = rng.choice("- ") + _UNITS[number % 10] if number % 10 else ""
        return _TENS[number // 10] + unit
    if 1100 <= number < 2000 and number % 100 > 9 and rng.random() < 0.5:
        return f"{spelled(number // 100, rng)} {spelled(number % 100, rng)}"
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = number % size
    link = rng.choice([" ", " and "]) if rest < 100 else " "
    return f"{spelled(number // size, rng)} {name}" + (link + spelled(rest, rng) if rest else "")
