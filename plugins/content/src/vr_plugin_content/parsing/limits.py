"""Limits that a worker sets for itself before it touches a file."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

MEGABYTE = 1_048_576
LARGEST_FILE = 512 * MEGABYTE
"""Largest file that a worker may write."""
SPARE_CPU_S = 5.0
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_KILL = 9


def limit_process(memory_mb: int) -> None:
    """Bound memory and files, leave no core, and die with the server; as far as this system can."""
    _die_with_parent()
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        if sys.platform != "darwin":  # macOS refuses it, or ignores it
            most = memory_mb * MEGABYTE
            resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_cpu(seconds: float) -> None:
    """Bound the processor time of the next task, in case the server is gone by then."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime + 2 * seconds + SPARE_CPU_S)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def peak_memory_mb() -> float:
    """Return the most memory that this process had, in MB; 0 where that is not known."""
    with suppress(OSError, ValueError, StopIteration):  # on Linux the other way tells of the parent
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
        told = next(line for line in lines if line.startswith("VmHWM:"))
        return int(told.split()[1]) / 1024
    with suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (MEGABYTE if sys.platform == "darwin" else 1024)
    return 0.0


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, _KILL)
