"""Files of the user and of the program: what may be read, how it is found, what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel.exports import lazy_exports

if TYPE_CHECKING:
    from vr_kernel.files.artifacts import URI_PREFIX, Artifacts
    from vr_kernel.files.digests import Digests
    from vr_kernel.files.policy import Policy

__all__ = [  # noqa: RUF022 - sorted as a dictionary is
    "Artifacts",
    "Digests",
    "Policy",
    "URI_PREFIX",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "artifacts": "Artifacts URI_PREFIX",
        "digests": "Digests",
        "policy": "Policy",
    },
)
