"""Makes the ONNX model of this distribution from the published weights, without torch.

    python scripts/export_model.py FOLDER OUTPUT.onnx [--float32]

FOLDER holds `config.json` and `model.safetensors` of a BERT sentence encoder, such as
sentence-transformers/all-MiniLM-L6-v2. The graph takes `input_ids` and `attention_mask` (both
int64, batch x length) and gives `embedding` (float32, batch x hidden): BERT, mean pooling over
the attended tokens, L2 normalisation. Without `--float32` weights become 8-bit integers.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import onnx
from numpy import asarray, float32, int64, ndarray  # noqa: TID253 - a script needs it at once
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: TID253 - as above
from safetensors.numpy import load_file

OPSET = 18
IR_VERSION = 9
MASKED = -10_000.0
"""Added to the attention scores of padding, as BERT's reference implementation does."""

Weights = dict[str, "ndarray[Any, Any]"]


class Graph:
    """An ONNX graph in the making: operators are added in order, results are named by it."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Append an operator and return the name of its result."""
        name = output or f"t{len(self.nodes)}"
        node = helper.make_node(operator, inputs, [name], f"{operator}_{name}", **attributes)
        self.nodes.append(node)
        return name

    def constant(self, name: str, value: Any, dtype: Any = float32) -> str:
        """Keep a value under a name, once, and return the name."""
        if name not in self.constants:
            array = asarray(value, dtype=dtype)
            self.constants[name] = numpy_helper.from_array(array, name)
        return name

    def integers(self, *values: int) -> str:
        """A constant list of integers: axes, or a shape."""
        return self.constant("i" + "_".join(map(str, values)), values, int64)


class Bert:
    """Builds the graph of one BERT encoder from its weights and configuration."""

    def __init__(self, weights: Weights, config: dict[str, Any]) -> None:
        self.graph = Graph()
        self.weights = weights
        self.hidden: int = config["hidden_size"]
        self.heads: int = config["num_attention_heads"]
        self.layers: int = config["num_hidden_layers"]
        self.epsilon: float = config["layer_norm_eps"]
        if config.get("hidden_act", "gelu") != "gelu":
            raise SystemExit(f"hidden_act {config['hidden_act']!r} is not supported, only gelu")

    def build(self) -> onnx.ModelProto:
        """The whole model, checked."""
        state = self._embeddings()
        bias = self._mask_bias()
        for layer in range(self.layers):
            state = self._layer(f"encoder.layer.{layer}", state, bias)
        self._pool(state)
        return self._model()

    def _embeddings(self) -> str:
        g, w = self.graph, self.weights
        words = g.constant("words", w["embeddings.word_embeddings.weight"])
        # A single text is segment 0 throughout, so its embedding is added to every position.
        places = (
            w["embeddings.position_embeddings.weight"]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        length = g.add("Shape", "input_ids", start=1, end=2)
        used = g.add("Slice", g.constant("places", places), g.integers(0), length, g.integers(0))
        total = g.add("Add", g.add("Gather", words, "input_ids"), used)
        return self._normalise("embeddings.LayerNorm", total)

    def _mask_bias(self) -> str:
        g = self.graph
        mask = g.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        wide = g.add("Unsqueeze", mask, g.integers(1, 2))
        padding = g.add("Sub", g.constant("one", 1.0), wide)
        return g.add("Mul", padding, g.constant("masked", MASKED))

    def _layer(self, prefix: str, state: str, bias: str) -> str:
        attended = self._attention(f"{prefix}.attention", state, bias)
        total = self.graph.add("Add", attended, state)
        state = self._normalise(f"{prefix}.attention.output.LayerNorm", total)
        inner = self._gelu(self._linear(f"{prefix}.intermediate.dense", state))
        total = self.graph.add("Add", self._linear(f"{prefix}.output.dense", inner), state)
        return self._normalise(f"{prefix}.output.LayerNorm", total)

    def _attention(self, prefix: str, state: str, bias: str) -> str:
        g, size = self.graph, self.hidden // self.heads
        query = self._split_heads(f"{prefix}.self.query", state, [0, 2, 1, 3])
        key = self._split_heads(f"{prefix}.self.key", state, [0, 2, 3, 1])
        value = self._split_heads(f"{prefix}.self.value", state, [0, 2, 1, 3])
        scale = g.constant("scale", 1 / math.sqrt(size))
        scores = g.add("Mul", g.add("MatMul", query, key), scale)
        shares = g.add("Softmax", g.add("Add", scores, bias), axis=-1)
        mixed = g.add("Transpose", g.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        joined = g.add("Reshape", mixed, g.integers(0, 0, self.hidden))
        return self._linear(f"{prefix}.output.dense", joined)

    def _split_heads(self, prefix: str, state: str, order: list[int]) -> str:
        shape = self.graph.integers(0, 0, self.heads, self.hidden // self.heads)
        parts = self.graph.add("Reshape", self._linear(prefix, state), shape)
        return self.graph.add("Transpose", parts, perm=order)

    def _linear(self, prefix: str, state: str) -> str:
        g = self.graph
        weight = g.constant(f"{prefix}.weight", self.weights[f"{prefix}.weight"].T)
        bias = g.constant(f"{prefix}.bias", self.weights[f"{prefix}.bias"])
        return g.add("Add", g.add("MatMul", state, weight), bias)

    def _normalise(self, prefix: str, state: str) -> str:
        names = (f"{prefix}.weight", f"{prefix}.bias")
        scale, shift = (self.graph.constant(name, self.weights[name]) for name in names)
        return self.graph.add(
            "LayerNormalization", state, scale, shift, axis=-1, epsilon=self.epsilon
        )

    def _gelu(self, state: str) -> str:
        g = self.graph
        share = g.add("Erf", g.add("Div", state, g.constant("root2", math.sqrt(2))))
        half = g.add("Mul", state, g.constant("half", 0.5))
        return g.add("Mul", half, g.add("Add", share, g.constant("one", 1.0)))

    def _pool(self, state: str) -> None:
        # The mean differs from the sum by a factor only, which the normalisation takes out.
        g, last, along = self.graph, self.graph.integers(-1), self.graph.integers(1)
        mask = g.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        kept = g.add("Mul", state, g.add("Unsqueeze", mask, last))
        total = g.add("ReduceSum", kept, along, keepdims=0)
        norm = g.add("ReduceL2", total, last, keepdims=1)
        g.add("Div", total, g.add("Max", norm, g.constant("tiny", 1e-12)), output="embedding")

    def _model(self) -> onnx.ModelProto:
        shape: list[str] = ["batch", "length"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info(
            "embedding", TensorProto.FLOAT, ["batch", self.hidden]
        )
        graph = helper.make_graph(
            self.graph.nodes,
            "sentence_encoder",
            inputs,
            [output],
            list(self.graph.constants.values()),
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        onnx.checker.check_model(model, full_check=True)
        return model


def read_weights(folder: Path) -> Weights:
    """All tensors of `model.safetensors` by name, without the prefix some writers add."""
    tensors: Weights = load_file(str(folder / "model.safetensors"))
    return {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}


def quantise(source: Path, target: Path) -> None:
    """Write a copy with 8-bit weights, one scale an output channel; activations stay dynamic."""
    quantize_dynamic(str(source), str(target), per_channel=True, weight_type=QuantType.QInt8)


def main() -> None:
    """Read the command line and export."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="config.json and model.safetensors")
    parser.add_argument("output", type=Path, help="the .onnx file to write")
    parser.add_argument("--float32", action="store_true", help="leave the weights as they are")
    arguments = parser.parse_args()
    config = json.loads((arguments.folder / "config.json").read_text(encoding="utf-8"))
    model = Bert(read_weights(arguments.folder), config).build()
    if arguments.float32:
        onnx.save(model, arguments.output)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            plain = Path(temporary) / "float32.onnx"
            onnx.save(model, plain)
            quantise(plain, arguments.output)
    print(f"{arguments.output}: {arguments.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
