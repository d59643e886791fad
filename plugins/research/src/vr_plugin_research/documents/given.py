"""Documents that a person names: checked before anything is read, never taken for a text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import Call, VrError

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Failure, Found
from vr_plugin_research.stages.reading import failure_of


async def put_documents(
    call: Call, dossier: Dossier, file_paths: Sequence[str], urls: Sequence[str]
) -> None:
    """Put documents into the dossier; one that may not be read is a failure at once."""
    named = [*((path, False) for path in file_paths), *((url, True) for url in urls)]
    for number, (place, is_url) in enumerate(named, 1):
        try:
            if is_url:
                call.services.http.check(place)
            else:
                await asyncio.to_thread(call.services.policy.resolve_file, place)
        except VrError as error:
            await dossier.put(Failure(id=str(number), failure=failure_of(place, error)))
            continue
        kind = "web" if is_url else "document"
        await dossier.put(
            Found(id=number, round=1, address=place, kind=kind, given=True, relevance=1.0)
        )
