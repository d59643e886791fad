"""MiniLM keeps what every embedder keeps."""

from __future__ import annotations

from typing import ClassVar

from vr_embedder_minilm import plugin
from vr_testing import EmbedderContract


class TestMiniLm(EmbedderContract):
    plugins: ClassVar = {"embedder-minilm": plugin}
    provider = "minilm"
