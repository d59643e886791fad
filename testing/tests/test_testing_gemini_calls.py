"""The fake Gemini calls functions, and refuses what Gemini 3 refuses about them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from vr_testing import Answer, FakeGemini, FunctionCall

Change = Callable[[list[Any]], Any]
TOOLS = [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": {"type": "object"}}]}]
CALLS = (FunctionCall("look", {"at": 1}), FunctionCall("look", {"at": 2}))


def post(gemini: FakeGemini, contents: list[Any], **more: Any) -> Any:
    body = json.dumps({"contents": contents, "tools": TOOLS, **more}).encode()
    url = f"{gemini.url}/v1beta/models/gemini-x:generateContent"
    with urlopen(Request(url, body, {"Content-Type": "application/json"})) as answer:
        return json.load(answer)


def asked(text: str = "Look.") -> Any:
    return {"role": "user", "parts": [{"text": text}]}


def answered(count: int = 2) -> Any:
    result = {"functionResponse": {"name": "look", "response": {"output": "seen"}}}
    return {"role": "user", "parts": [result] * count}


def conversation(gemini: FakeGemini) -> list[Any]:
    gemini.answer(Answer("Now.", calls=CALLS, signed=True), times=1)
    reply = post(gemini, [asked()])["candidates"][0]["content"]
    return [asked(), reply, answered()]


def test_a_conversation_that_comes_back_whole_goes_on() -> None:
    with FakeGemini() as gemini:
        said = conversation(gemini)
        shown = [[name for name in part if name != "thoughtSignature"] for part in said[1]["parts"]]
        assert shown == [["text"], ["functionCall"], ["functionCall"]]
        assert ["thoughtSignature" in part for part in said[1]["parts"]] == [True, True, False]
        assert post(gemini, said)["candidates"][0]["finishReason"] == "STOP"
        before = gemini.bill
        said[1]["parts"][1]["thoughtSignature"] = "skip_thought_signature_validator"
        post(gemini, said)
        assert gemini.bill.calls == before.calls + 1
        assert len(gemini.requests[-1].results) == len(CALLS)


CHANGES: dict[str, tuple[Change, str]] = {
    "unsigned": (lambda said: said[1]["parts"][1].pop("thoughtSignature"), "missing a thought_sig"),
    "moved": (lambda said: said[1]["parts"].reverse(), "missing a thought_sig"),
    "other arguments": (
        lambda said: said[1]["parts"][1]["functionCall"].update(args={}),
        "signature is not valid",
    ),
    "other words": (lambda said: said[1]["parts"][0].update(text="Now"), "signature is not valid"),
    "one result": (lambda said: said[2]["parts"].pop(), "number of function response"),
    "no result": (lambda said: said.pop(), "number of function response"),
    "a result too many": (lambda said: said.append(answered()), "number of function response"),
    "another id": (
        lambda said: said[2]["parts"][0]["functionResponse"].update(id="x"),
        "number of function response",
    ),
}


@pytest.mark.parametrize(("change", "told"), CHANGES.values(), ids=CHANGES)
def test_a_conversation_that_was_changed_is_refused(change: Change, told: str) -> None:
    with FakeGemini() as gemini:
        said = json.loads(json.dumps(conversation(gemini)))
        change(said)
        with pytest.raises(HTTPError) as caught:
            post(gemini, said)
        assert caught.value.code == 400
        assert told in json.load(caught.value)["error"]["message"]
        assert gemini.bill.calls == 1


def test_an_older_turn_needs_no_signature_and_older_models_need_none_at_all() -> None:
    with FakeGemini() as gemini:
        said = conversation(gemini)
        del said[1]["parts"][1]["thoughtSignature"]
        post(gemini, [*said, {"role": "model", "parts": [{"text": "Seen."}]}, asked("And now?")])
        gemini.signs_calls = False
        post(gemini, said)


@pytest.mark.parametrize(
    ("declaration", "told"),
    [
        ({"name": "9 lives"}, "Invalid function name"),
        ({"name": "look"}, "Duplicate function declaration"),
        ({"name": "see", "parametersJsonSchema": {"type": "thing"}}, "unknown type 'thing'"),
    ],
)
def test_declarations_that_nobody_takes_are_refused(declaration: Any, told: str) -> None:
    with FakeGemini() as gemini:
        both = [*TOOLS[0]["functionDeclarations"], declaration]
        with pytest.raises(HTTPError) as caught:
            post(gemini, [asked()], tools=[{"functionDeclarations": both}])
        assert told in json.load(caught.value)["error"]["message"]
