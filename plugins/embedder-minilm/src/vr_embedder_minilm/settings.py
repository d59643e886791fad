"""The section `[plugins.embedder-minilm]`."""

from __future__ import annotations

from pydantic import Field
from vr_kernel import Section


class EmbedderSettings(Section):
    """Processor threads of the embedder."""

    threads: int = Field(2, ge=1, le=64, description="Processor threads for one text.")
