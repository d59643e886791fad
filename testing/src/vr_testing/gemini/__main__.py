"""`python -m vr_testing.gemini [--port N]`: a fake service to try things against by hand."""

from __future__ import annotations

import argparse
import threading

from vr_testing.gemini.server import FakeGemini


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a fake Gemini on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0, help="any free port when left out")
    with FakeGemini(port=parser.parse_args().port) as gemini:
        print(f"GOOGLE_GEMINI_BASE_URL={gemini.url}", flush=True)  # noqa: T201 - it is the output
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
