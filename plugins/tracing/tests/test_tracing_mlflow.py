"""A real MLflow server: the trace is there, under the experiment that the variables name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow_server import MlflowProcess, NoServerError, install
from traced_kernels import OpenTraced
from waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
QUESTION = "Why-does-this-question-stay-here?"


@pytest.fixture
def mlflow(tmp_path: Path) -> Iterator[MlflowProcess]:
    """A server that was just started."""
    try:
        install()
    except NoServerError as reason:
        pytest.skip(f"MLflow cannot be installed: {reason}")
    folder = tmp_path / "mlflow"
    folder.mkdir()
    with MlflowProcess(folder) as server:
        yield server


async def test_it_shows_the_trace(traced: OpenTraced, mlflow: MlflowProcess) -> None:
    variables = {"MLFLOW_TRACKING_URI": mlflow.url, "MLFLOW_EXPERIMENT_NAME": "talks"}
    async with traced(variables, {"timeout_s": 60}) as kernel:
        done = await kernel.run("paid_ask", {"question": QUESTION})

        def arrived() -> list[dict[str, Any]]:
            experiment = mlflow.experiment("talks")
            found = mlflow.traces(experiment) if experiment else []
            return [each for each in found if each["trace_info"]["state"] != "IN_PROGRESS"]

        (trace,) = await until(arrived, within=90)
    assert trace["trace_info"]["state"] == "OK"
    call, request = sorted(trace["spans"], key=lambda span: span["name"], reverse=True)
    assert (call["name"], call.get("parent_span_id")) == ("tools/call paid_ask", None)
    assert request["parent_span_id"] == call["span_id"]
    said = [{it["key"]: it["value"] for it in span["attributes"]} for span in (call, request)]
    kinds = [attributes["mlflow.spanType"]["string_value"] for attributes in said]
    assert kinds == ["TOOL", "LLM"]
    usage = done.result.usage
    assert usage is not None
    assert said[1]["gen_ai.usage.input_tokens"] == {"int_value": usage.input_tokens}
    told = mlflow.log.read_text("utf-8") + str(trace)
    assert QUESTION not in told
    assert done.result.text not in str(trace)
