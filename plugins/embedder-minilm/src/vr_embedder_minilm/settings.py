"""The section `[plugins.embedder-minilm]`."""

from __future__ import annotations

from pydantic import Field
from vr_kernel import Section


class EmbedderSettings(Section):
    """Use of this machine by the embedder."""

    threads: int = Field(2, ge=1, le=64, description="Processor threads for one text.")
