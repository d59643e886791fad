"""The embedded store keeps what every store keeps."""

from __future__ import annotations

from typing import ClassVar

from vr_plugin_knowledge import plugin
from vr_testing import StoreContract


class TestEmbeddedStore(StoreContract):
    plugins: ClassVar = {"knowledge": plugin}
    provider = "embedded"
