"""The exporter's graph computes what BERT computes: checked against plain numpy."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np  # noqa: TID253 - the reference is written in it
import onnxruntime  # noqa: TID253 - runs what was exported
import pytest
from vr_embedder_minilm.checksums import MODEL_FILE, MODEL_FOLDER

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install '.[export]'")
safetensors = pytest.importorskip(
    "safetensors.numpy", reason="safetensors is not installed: pip install '.[export]'"
)

SCRIPT = Path(__file__).parents[1] / "scripts" / "export_model.py"
CONFIG = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}
VOCABULARY, PLACES = 50, 16


def random_bert() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(20240229)
    hidden, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, hidden),
        "embeddings.position_embeddings.weight": (PLACES, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
    }
    linear = {f"attention.self.{part}": (hidden, hidden) for part in ("query", "key", "value")}
    linear |= {
        "attention.output.dense": (hidden, hidden),
        "intermediate.dense": (inner, hidden),
        "output.dense": (hidden, inner),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(CONFIG["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}"
        for name, shape in linear.items():
            shapes[f"{prefix}.{name}.weight"] = shape
            shapes[f"{prefix}.{name}.bias"] = shape[:1]
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    shapes |= {f"{norm}.{part}": (hidden,) for norm in norms for part in ("weight", "bias")}
    return {name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


class Reference:
    """A forward pass of BERT in float64, one text at a time, without padding."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights = {name: value.astype(np.float64) for name, value in weights.items()}

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        spread = np.sqrt(x.var(-1, keepdims=True) + CONFIG["layer_norm_eps"])
        scaled = (x - x.mean(-1, keepdims=True)) / spread
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, name: str, x: np.ndarray) -> np.ndarray:
        parts = [self.linear(f"{name}.self.{part}", x) for part in ("query", "key", "value")]
        heads = CONFIG["num_attention_heads"]
        mixed = []
        for query, key, value in zip(*(np.split(p, heads, -1) for p in parts), strict=True):
            scores = np.exp(query @ key.T / math.sqrt(query.shape[-1]))
            mixed.append(scores / scores.sum(-1, keepdims=True) @ value)
        return self.linear(f"{name}.output.dense", np.concatenate(mixed, -1))

    def embed(self, ids: list[int]) -> np.ndarray:
        word, place, segment = (
            self.weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        )
        x = self.norm("embeddings.LayerNorm", word[ids] + place[: len(ids)] + segment[0])
        for layer in range(CONFIG["num_hidden_layers"]):
            name = f"encoder.layer.{layer}"
            attended = self.attention(f"{name}.attention", x)
            x = self.norm(f"{name}.attention.output.LayerNorm", x + attended)
            inner = self.linear(f"{name}.intermediate.dense", x)
            inner = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
            x = self.norm(
                f"{name}.output.LayerNorm", x + self.linear(f"{name}.output.dense", inner)
            )
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def export(folder: Path, weights: dict[str, np.ndarray], *options: str, **config: object) -> Path:
    safetensors.save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}), encoding="utf-8")
    output = folder / "out.onnx"
    subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(output), *options],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return output


def run(model: Path, rows: list[list[int]]) -> np.ndarray:
    """Vectors of a batch, shorter rows padded with a token that must not count."""
    ids = np.full((len(rows), max(map(len, rows))), 7, dtype=np.int64)
    mask = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    return session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]


ROWS = [[2, 11, 3], [2, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 3], [2, 3]]


def test_float_graph_equals_the_reference(tmp_path):
    """Its weights have the prefix that some files give them; those of `quantised` have none."""
    weights = random_bert()
    named = {f"bert.{name}": value for name, value in weights.items()}
    vectors = run(export(tmp_path, named, "--float32"), ROWS)
    expected = np.stack([Reference(weights).embed(row) for row in ROWS])
    assert vectors == pytest.approx(expected, abs=2e-5)


@pytest.fixture(scope="module")
def quantised(tmp_path_factory):
    """The graph of the random weights as it ships: quantised."""
    return export(tmp_path_factory.mktemp("quantised"), random_bert())


def test_quantised_graph_stays_near_and_shrinks(quantised):
    weights = random_bert()
    expected = np.stack([Reference(weights).embed(row) for row in ROWS])
    near = (run(quantised, ROWS) * expected).sum(-1)
    assert near.min() > 0.98
    kinds = {node.op_type for node in onnx.load(quantised).graph.node}
    assert {"MatMulInteger", "DynamicQuantizeLinear"} <= kinds


def test_another_activation_is_refused(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        export(tmp_path, random_bert(), hidden_act="relu")
    assert b"relu" in caught.value.stderr


def test_the_exporter_makes_the_graph_that_ships(quantised):
    shipped = onnx.load(MODEL_FOLDER / MODEL_FILE)
    made = onnx.load(quantised)
    assert _signature(made) == _signature(shipped)


def _signature(model: onnx.ModelProto) -> object:
    """Kinds of operators, names of what goes in and out, and the operator set."""
    graph = model.graph
    return (
        {node.op_type for node in graph.node},
        [value.name for value in graph.input],
        [value.name for value in graph.output],
        [(entry.domain, entry.version) for entry in model.opset_import],
    )
