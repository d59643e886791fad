"""Documents, pages, pictures and folders for other plugins."""

from __future__ import annotations

from pathlib import PurePath

from vr_kernel import Call, Document, DocumentPicture, Services

from vr_plugin_content.formats.kinds import kind_by_name, suffix_of
from vr_plugin_content.reading.documents import pictures_of, read_any
from vr_plugin_content.sources.source import is_address


class ContentLoader:
    """Loads everything that this plugin reads."""

    name = "content"

    def __init__(self, services: Services) -> None:
        """Take the services of the plugin; each call brings its own."""

    def takes(self, source: str) -> bool:
        """True for names of known kinds, names without an ending, folders, and addresses."""
        named = PurePath(source).name
        return is_address(source) or not suffix_of(named) or kind_by_name(named) is not None

    async def load(self, call: Call, source: str) -> Document:
        """Read the document.

        Raises:
            VrError: as `read_any`.
        """
        return await read_any(call, source)

    async def pictures(self, call: Call, source: str) -> list[DocumentPicture]:
        """Keep the pictures of the document as artifacts.

        Raises:
            VrError: as `pictures_of`.
        """
        return await pictures_of(call, source)
