"""The floor of batches: google-genai asks about every video of a folder, and keeps nothing.

Called with a folder that holds `warm` and `videos`, and how many requests go at a time. It asks
about the first, says so in a line, waits for a line, and prints the seconds that the others took.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from google import genai  # noqa: TID253 - it is a program of its own
from google.genai import types  # noqa: TID253

TASK = "Comprehensive analysis"
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "summary": {"type": "string"},
        "key_points": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "summary", "key_points"],
}


async def main(home: Path, at_once: int) -> None:
    """Ask about all videos."""
    client = genai.Client(
        api_key=os.environ["GEMINI_API_KEY"],
        http_options=types.HttpOptions(base_url=os.environ["GOOGLE_GEMINI_BASE_URL"]),
    )
    room = asyncio.Semaphore(at_once)

    async def ask(path: Path) -> None:
        async with room:
            data = await asyncio.to_thread(path.read_bytes)
            video = types.Part.from_bytes(data=data, mime_type="video/x-matroska")
            reply = await client.aio.models.generate_content(
                model="gemini-3.8-flash",
                contents=types.Content(parts=[video, types.Part(text=TASK)]),
                config=types.GenerateContentConfig(
                    response_mime_type="application/json", response_json_schema=SCHEMA
                ),
            )
            json.loads(reply.text or "")

    await ask(home / "warm" / "clip.mkv")
    videos = sorted((home / "videos").iterdir())
    print("warm", flush=True)
    sys.stdin.readline()
    began = time.perf_counter()
    await asyncio.gather(*(ask(path) for path in videos))
    print(json.dumps({"seconds": time.perf_counter() - began}))
    await client.aio.aclose()


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
