"""Write docs/reference/kernel.md from the public names of the kernel."""

from __future__ import annotations

from functools import partial

from generated_page import publish
from interface_page import interface

HEAD = """# `vr_kernel`

What a plugin and a program import, with signatures and docstrings. The [overview](api.md) has one
line for each name, and [Use it as a library](../how-to/use-as-a-library.md) shows them at work.
Generated from the sources by `python scripts/kernel_reference.py`; a test fails when this page
differs from them.
"""

if __name__ == "__main__":
    publish("kernel.md", partial(interface, "vr_kernel", HEAD))
