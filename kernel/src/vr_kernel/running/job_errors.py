"""The errors of jobs that ended without a result of their own."""

from __future__ import annotations

from vr_kernel.errors import Code, VrError


def taken_over(job_id: str) -> VrError:
    """The error of work that another process took over."""
    return VrError(
        f"Another process took over job {job_id}.",
        Code.CONFLICT,
        category="LEASE_LOST",
        hint="Use job_result to wait for its outcome.",
        retryable=True,
    )


def cancelled(job_id: str) -> VrError:
    """The error of work that was cancelled by its id."""
    return VrError(f"Job {job_id} was cancelled.", Code.CANCELLED, hint="Call the tool again.")


def id_used(call_id: str) -> VrError:
    """The error of a caller's id that another call has."""
    return VrError(
        f"The call id {call_id} belongs to another call.",
        Code.CONFLICT,
        category="CALL_ID_USED",
        hint="Give each call an id of its own; the same one only for the same call once more.",
    )


def given_up(runs: int) -> VrError:
    """The error of a job whose processes died repeatedly."""
    return VrError(
        f"The job was interrupted {runs} times without getting any further.",
        Code.INTERNAL,
        category="JOB_INTERRUPTED",
        hint="Its process died each time. The log may say why; call the tool again.",
    )
