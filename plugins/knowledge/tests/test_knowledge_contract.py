"""The embedded store keeps what every store keeps."""

from __future__ import annotations

from typing import ClassVar

from vr_kernel.testing import StoreContract
from vr_plugin_knowledge import plugin


class TestEmbeddedStore(StoreContract):
    plugins: ClassVar = {"knowledge": plugin}
    provider = "embedded"
