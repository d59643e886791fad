"""Write docs/reference/testing.md from the public names of the kit for tests."""

from __future__ import annotations

from functools import partial

from generated_page import publish
from interface_page import interface

HEAD = """# `vr_testing`

The kit for the tests of plugins. How to use it: [test a plugin](../how-to/test-a-plugin.md),
[test against a fake Gemini](../how-to/test-against-gemini.md). Generated from the sources by
`python scripts/testing_reference.py`; a test fails when this page differs from them.
"""

if __name__ == "__main__":
    publish("testing.md", partial(interface, "vr_testing", HEAD))
