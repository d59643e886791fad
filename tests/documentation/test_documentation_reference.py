"""The generated pages say what the code says."""

from __future__ import annotations

import subprocess
import sys

from installation import REPOSITORY


def test_the_tool_reference_is_up_to_date() -> None:
    script = REPOSITORY / "scripts" / "tool_reference.py"
    code = (
        "import runpy, sys;"
        f"page = runpy.run_path({str(script)!r});"
        "sys.stdout.reconfigure(encoding='utf-8');"
        "sys.stdout.write(page['render']())"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    page = REPOSITORY / "docs" / "reference" / "tools.md"
    assert page.read_text("utf-8") == made.stdout, "run python scripts/tool_reference.py"
