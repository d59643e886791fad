"""The kernels that a plugin works with: from the one it was written for to below the next break."""

from __future__ import annotations

from packaging.version import Version


def next_break(version: str) -> Version:
    """The first later kernel that may break a plugin: before 1.0 a minor one, then a major one."""
    kernel = Version(version)
    return Version(f"{kernel.major + 1}") if kernel.major else Version(f"0.{kernel.minor + 1}")


def kernel_range(version: str) -> str:
    """The range that a plugin written for this kernel requires, such as `>=0.1,<0.2`."""
    kernel = Version(version)
    return f">={kernel.major}.{kernel.minor},<{next_break(version)}"
