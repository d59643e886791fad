"""Everything a plugin author needs; names are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.access import Access, Identity, sharing
    from vr_kernel.call import Call
    from vr_kernel.commands import Command
    from vr_kernel.config.config import Config, load_config
    from vr_kernel.config.paths import make_private, private_file, private_folder
    from vr_kernel.config.settings import EnvAlias, Section
    from vr_kernel.content import Content
    from vr_kernel.documents import Document, DocumentPicture, Heading, Locator, Segment
    from vr_kernel.errors import (
        ERROR_META,
        Code,
        ErrorRule,
        ErrorTable,
        VrError,
        did_you_mean,
        extra_missing,
        require_extra,
    )
    from vr_kernel.events import CallFinished, RequestFinished, Trace
    from vr_kernel.files.artifacts import Artifact
    from vr_kernel.files.policy import FileMatches
    from vr_kernel.generation import (
        Embeddings,
        Media,
        MediaResolution,
        Options,
        Part,
        Purpose,
        Reply,
        ReplyPiece,
        Request,
        Role,
        Text,
        ThinkingLevel,
        ToolCall,
        ToolResult,
        ToolSpec,
        Turn,
        Usage,
        WebSource,
    )
    from vr_kernel.health import Check, Diagnosis, Level, Remedy
    from vr_kernel.hookspecs import hookimpl
    from vr_kernel.items.acceptance import rerank, texts_of
    from vr_kernel.items.pictures import Picture
    from vr_kernel.journal.follower import Follower
    from vr_kernel.journal.following import FollowingStore
    from vr_kernel.kernel import Kernel
    from vr_kernel.log import Log
    from vr_kernel.models.provider import ModelAccess, ModelInfo, ModelProvider, VectorInfo
    from vr_kernel.models.structured import Structured, check_schema
    from vr_kernel.progress import Progress
    from vr_kernel.prompts import Message, Prompt, prompt
    from vr_kernel.protocols.models import Gemini, Models, UsageReader
    from vr_kernel.protocols.records import (
        Cache,
        CachePlace,
        Continuity,
        Journal,
        SearchableStore,
        Vectors,
    )
    from vr_kernel.protocols.searching import (
        Recency,
        SearchProvider,
        WebQuery,
        WebResult,
        WebResults,
    )
    from vr_kernel.protocols.work import Documents, Files, InstalledPlugin, Jobs, Leases, Providers
    from vr_kernel.providers import Embedder, Provider, Reranker, TextLine, TextRecognizer
    from vr_kernel.questions import Answer, AnswerNeeded, Asker, Question, ask_nobody, understand
    from vr_kernel.quoting.conflicts import ConflictKind, find_conflict, numbers_in
    from vr_kernel.quoting.quotes import Finding, Passage, QuoteIndex, find_in
    from vr_kernel.records import (
        Change,
        FieldType,
        Record,
        RecordField,
        RecordKind,
        Source,
        entity_key,
    )
    from vr_kernel.resources import Reading, Resource, resource
    from vr_kernel.running.document_loaders import DocumentLoader
    from vr_kernel.running.joining import Joined
    from vr_kernel.running.origins import CallOptions
    from vr_kernel.running.running_job import RunningCall
    from vr_kernel.services import Services
    from vr_kernel.spending.prices import Price, PriceTable
    from vr_kernel.state.cache import cache_key
    from vr_kernel.state.journal import Position
    from vr_kernel.stores import Filter, FilterOperator, Hit, Query, SearchMode, Store, StoredRecord
    from vr_kernel.text.fitting import fit
    from vr_kernel.text.tokens import estimate_tokens
    from vr_kernel.text.visible_text import spelled_out, visible, visible_json, visible_line
    from vr_kernel.tools import (
        CALLS_OUT,
        DESTRUCTIVE,
        IDEMPOTENT,
        PAID,
        READ_ONLY,
        WRITES_LOCAL,
        Effects,
        Tool,
        build_tool,
        tool,
    )
    from vr_kernel.version import VERSION
    from vr_kernel.views.declaration import view
    from vr_kernel.views.model import View
    from vr_kernel.views.renderer import ViewRenderer

# fmt: off
__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "Access", "Answer", "AnswerNeeded", "Artifact", "Asker", "CALLS_OUT", "Cache", "CachePlace",
    "Call", "CallFinished", "CallOptions", "Change", "Check", "Code", "Command", "Config",
    "ConflictKind", "Content", "Continuity", "DESTRUCTIVE", "Diagnosis", "Document",
    "DocumentLoader", "DocumentPicture", "Documents", "ERROR_META", "Effects", "Embedder",
    "Embeddings", "EnvAlias", "ErrorRule", "ErrorTable", "FieldType", "FileMatches", "Files",
    "Filter", "FilterOperator", "Finding", "Follower", "FollowingStore", "Gemini", "Heading", "Hit",
    "IDEMPOTENT", "Identity", "InstalledPlugin", "Jobs", "Joined", "Journal", "Kernel", "Leases",
    "Level", "Locator", "Log", "Media", "MediaResolution", "Message", "ModelAccess", "ModelInfo",
    "ModelProvider", "Models", "Options", "PAID", "Part", "Passage", "Picture", "Position", "Price",
    "PriceTable", "Progress", "Prompt", "Provider", "Providers", "Purpose", "Query", "Question",
    "QuoteIndex", "READ_ONLY", "Reading", "Recency", "Record", "RecordField", "RecordKind",
    "Remedy", "Reply", "ReplyPiece", "Request", "RequestFinished", "Reranker", "Resource", "Role",
    "RunningCall", "SearchMode", "SearchProvider", "SearchableStore", "Section", "Segment",
    "Services", "Source", "Store", "StoredRecord", "Structured", "Text", "TextLine",
    "TextRecognizer", "ThinkingLevel", "Tool", "ToolCall", "ToolResult", "ToolSpec", "Trace",
    "Turn", "Usage", "UsageReader", "VERSION", "VectorInfo", "Vectors", "View", "ViewRenderer",
    "VrError", "WRITES_LOCAL", "WebQuery", "WebResult", "WebResults", "WebSource", "ask_nobody",
    "build_tool", "cache_key", "check_schema", "did_you_mean", "entity_key", "estimate_tokens",
    "extra_missing", "find_conflict", "find_in", "fit", "hookimpl", "lazy_exports", "load_config",
    "make_private", "numbers_in", "private_file", "private_folder", "prompt", "require_extra",
    "rerank", "resource", "sharing", "spelled_out", "texts_of", "tool", "understand", "view",
    "visible", "visible_json", "visible_line",
]
# fmt: on

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "access": "Access Identity sharing",
        "call": "Call",
        "commands": "Command",
        "config.config": "Config load_config",
        "config.paths": "make_private private_file private_folder",
        "config.settings": "EnvAlias Section",
        "content": "Content",
        "documents": "Document DocumentPicture Heading Locator Segment",
        "errors": "Code ERROR_META ErrorRule ErrorTable VrError did_you_mean "
        "extra_missing require_extra",
        "events": "CallFinished RequestFinished Trace",
        "files.artifacts": "Artifact",
        "files.policy": "FileMatches",
        "generation": "Embeddings Media MediaResolution Options Part Purpose "
        "Reply ReplyPiece Request Role Text ThinkingLevel ToolCall "
        "ToolResult ToolSpec Turn Usage WebSource",
        "health": "Check Diagnosis Level Remedy",
        "hookspecs": "hookimpl",
        "items.acceptance": "rerank texts_of",
        "items.pictures": "Picture",
        "journal.follower": "Follower",
        "journal.following": "FollowingStore",
        "kernel": "Kernel",
        "log": "Log",
        "spending.prices": "Price PriceTable",
        "models.provider": "ModelAccess ModelInfo ModelProvider VectorInfo",
        "models.structured": "Structured check_schema",
        "progress": "Progress",
        "prompts": "Message Prompt prompt",
        "protocols.models": "Gemini Models UsageReader",
        "protocols.records": "Cache CachePlace Continuity Journal SearchableStore Vectors",
        "protocols.searching": "Recency SearchProvider WebQuery WebResult WebResults",
        "protocols.work": "Documents Files InstalledPlugin Jobs Leases Providers",
        "providers": "Embedder Provider Reranker TextLine TextRecognizer",
        "questions": "Answer AnswerNeeded Asker Question ask_nobody understand",
        "quoting.conflicts": "ConflictKind find_conflict numbers_in",
        "quoting.quotes": "Finding Passage QuoteIndex find_in",
        "records": "Change FieldType Record RecordField RecordKind Source entity_key",
        "resources": "Reading Resource resource",
        "running.document_loaders": "DocumentLoader",
        "running.joining": "Joined",
        "running.origins": "CallOptions",
        "running.running_job": "RunningCall",
        "services": "Services",
        "state.cache": "cache_key",
        "state.journal": "Position",
        "stores": "Filter FilterOperator Hit Query SearchMode Store StoredRecord",
        "text.fitting": "fit",
        "text.tokens": "estimate_tokens",
        "text.visible_text": "spelled_out visible visible_json visible_line",
        "tools": "CALLS_OUT DESTRUCTIVE Effects IDEMPOTENT PAID READ_ONLY Tool "
        "WRITES_LOCAL build_tool tool",
        "version": "VERSION",
        "views.declaration": "view",
        "views.model": "View",
        "views.renderer": "ViewRenderer",
    },
)
