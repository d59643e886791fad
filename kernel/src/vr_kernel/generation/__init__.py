"""Conversations with language models: what is said, requests, and replies."""

from __future__ import annotations

from vr_kernel.generation.conversation import (
    Media,
    MediaResolution,
    Part,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from vr_kernel.generation.requests import (
    Embeddings,
    Options,
    Purpose,
    Reply,
    ReplyPiece,
    Request,
    Role,
    ThinkingLevel,
    ToolSpec,
    Usage,
    WebSource,
)

__all__ = [
    "Embeddings",
    "Media",
    "MediaResolution",
    "Options",
    "Part",
    "Purpose",
    "Reply",
    "ReplyPiece",
    "Request",
    "Role",
    "Text",
    "ThinkingLevel",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Turn",
    "Usage",
    "WebSource",
]
