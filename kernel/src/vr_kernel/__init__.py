"""Everything a plugin author needs; names are imported at first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vr_kernel.call import Call
    from vr_kernel.commands import Command
    from vr_kernel.config.config import Config, load_config
    from vr_kernel.config.paths import make_private, private_file, private_folder
    from vr_kernel.config.settings import EnvAlias, Section
    from vr_kernel.content import Content
    from vr_kernel.documents import Document, DocumentLoader, Locator, Segment
    from vr_kernel.errors import Code, VrError
    from vr_kernel.events import CallFinished
    from vr_kernel.files.artifacts import Artifact
    from vr_kernel.generation import Media, ModelProvider, Reply, Text, Turn, Usage
    from vr_kernel.health import Check, Diagnosis, Remedy
    from vr_kernel.hookspecs import hookimpl
    from vr_kernel.journal.following import FollowingStore
    from vr_kernel.journal.journal import Change
    from vr_kernel.journal.lineage import Position
    from vr_kernel.kernel import Kernel
    from vr_kernel.models.structured import Structured, check_schema
    from vr_kernel.prompts import Message, prompt
    from vr_kernel.providers import (
        Embedder,
        Filter,
        Hit,
        Provider,
        Query,
        Reranker,
        Store,
        StoredRecord,
        TextLine,
        TextRecognizer,
    )
    from vr_kernel.quoting.quotes import Finding, Passage, QuoteIndex, find_in
    from vr_kernel.records import Record, RecordField, RecordKind, entity_key
    from vr_kernel.resources import resource
    from vr_kernel.running.joining import Joined
    from vr_kernel.services import Services
    from vr_kernel.storage.cache import cache_key
    from vr_kernel.text.tokens import estimate_tokens
    from vr_kernel.text.visible_text import visible, visible_json
    from vr_kernel.tools import (
        CALLS_OUT,
        DESTRUCTIVE,
        IDEMPOTENT,
        READ_ONLY,
        WRITES_LOCAL,
        Effects,
        tool,
    )

_HOMES = {
    "files.artifacts": "Artifact",
    "storage.cache": "cache_key",
    "call": "Call",
    "commands": "Command",
    "config.config": "Config load_config",
    "config.paths": "make_private private_file private_folder",
    "content": "Content",
    "config.settings": "EnvAlias Section",
    "models.structured": "Structured check_schema",
    "documents": "Document DocumentLoader Locator Segment",
    "errors": "Code VrError",
    "events": "CallFinished",
    "generation": "Media ModelProvider Reply Text Turn Usage",
    "health": "Check Diagnosis Remedy",
    "hookspecs": "hookimpl",
    "running.joining": "Joined",
    "journal.following": "FollowingStore",
    "journal.journal": "Change",
    "journal.lineage": "Position",
    "kernel": "Kernel",
    "prompts": "Message prompt",
    "providers": "Embedder Filter Hit Provider Query Reranker Store StoredRecord TextLine"
    " TextRecognizer",
    "quoting.quotes": "Finding Passage QuoteIndex find_in",
    "records": "Record RecordField RecordKind entity_key",
    "resources": "resource",
    "services": "Services",
    "text.tokens": "estimate_tokens",
    "tools": "CALLS_OUT DESTRUCTIVE IDEMPOTENT READ_ONLY WRITES_LOCAL Effects tool",
    "text.visible_text": "visible visible_json",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [  # noqa: RUF022 - one literal list, so that type checkers can read it
    "Artifact",
    "CALLS_OUT",
    "Call",
    "CallFinished",
    "Change",
    "Check",
    "Code",
    "Command",
    "Config",
    "Content",
    "DESTRUCTIVE",
    "Diagnosis",
    "Document",
    "DocumentLoader",
    "Effects",
    "Embedder",
    "EnvAlias",
    "Filter",
    "Finding",
    "FollowingStore",
    "Hit",
    "IDEMPOTENT",
    "Joined",
    "Kernel",
    "Locator",
    "Media",
    "Message",
    "ModelProvider",
    "Passage",
    "Position",
    "Provider",
    "Query",
    "QuoteIndex",
    "READ_ONLY",
    "Record",
    "RecordField",
    "RecordKind",
    "Remedy",
    "Reply",
    "Reranker",
    "Section",
    "Segment",
    "Services",
    "Store",
    "StoredRecord",
    "Structured",
    "Text",
    "TextLine",
    "TextRecognizer",
    "Turn",
    "Usage",
    "VrError",
    "WRITES_LOCAL",
    "cache_key",
    "check_schema",
    "entity_key",
    "estimate_tokens",
    "find_in",
    "hookimpl",
    "load_config",
    "make_private",
    "private_file",
    "private_folder",
    "prompt",
    "resource",
    "tool",
    "visible",
    "visible_json",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
