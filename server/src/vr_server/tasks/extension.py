"""Long calls as tasks of the protocol, for clients that support tasks.

A task is a job of the ledger under another name: it belongs to the principal, outlives the process,
and `job_status` also finds it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from fastmcp.exceptions import McpError
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_context, get_http_request
from fastmcp.server.extensions import MethodBinding, ServerExtension
from fastmcp.utilities.tasks import TASKS_EXTENSION_ID
from mcp_types import INVALID_PARAMS, CallToolRequestParams, ElicitResult
from mcp_types.jsonrpc import HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from vr_kernel import Code, Kernel, VrError
from vr_kernel.jobs import Job

from vr_server.failures import protocol_error
from vr_server.identity import principal
from vr_server.served.tool import JobResult
from vr_server.tasks.kept_questions import KeptQuestions
from vr_server.tasks.messages import (
    Acknowledged,
    TaskDetails,
    TaskParams,
    UpdateParams,
    created_task,
    task_details,
)
from vr_server.tasks.questions import TaskQuestions, follows_tasks

if TYPE_CHECKING:
    from fastmcp.server.extensions import ToolCallContinuation, ToolCallOutcome

T = TypeVar("T")
DAY_S = 86_400
NAME_HEADER = "mcp-name"
"""Header in which a request over HTTP repeats the task's id, for routers."""


class Tasks(ServerExtension):
    """The extension `io.modelcontextprotocol/tasks` over the jobs of a kernel.

    Args:
        kernel: has the jobs; the caller opens and closes it.
    """

    identifier = TASKS_EXTENSION_ID

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._keep_s = kernel.config.kernel.job_ttl_days * DAY_S
        # The running call holds its questions, so they go when it ends.
        self._questions: WeakValueDictionary[str, TaskQuestions] = WeakValueDictionary()

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods on a task, by its id."""
        versions = frozenset(MODERN_PROTOCOL_VERSIONS)
        return [
            MethodBinding("tasks/get", TaskParams, self._get, versions),
            MethodBinding("tasks/update", UpdateParams, self._update, versions),
            MethodBinding("tasks/cancel", TaskParams, self._cancel, versions),
        ]

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        context: Context,
        call_next: ToolCallContinuation,
    ) -> ToolCallOutcome:
        """Turn a handle into a task, if the client supports tasks."""
        del params
        result = await call_next()
        if not isinstance(result, JobResult) or not follows_tasks(context):
            return result
        job = result.job
        if result.questions is not None:
            self._questions[job.id] = result.questions
            result.questions.keep(self._kept(job.id))
        return created_task(job, self._keep_s)

    async def _get(self, _context: Any, params: TaskParams) -> TaskDetails:
        """Return the task's state, and its result if it ended; an interrupted one is resumed."""
        _check(params.task_id)
        job = await self._known(
            params.task_id, self._kernel.services.jobs.wait(params.task_id, self._who(), 0)
        )
        return task_details(job, self._keep_s, await self._asked(job))

    async def _update(self, _context: Any, params: UpdateParams) -> Acknowledged:
        """Accept answers to the task's questions; other answers are ignored."""
        _check(params.task_id)
        job = await self._known(
            params.task_id, self._kernel.services.jobs.find(params.task_id, self._who())
        )
        questions = self._questions.get(job.id)
        for key in params.input_responses.keys() & (await self._asked(job)).keys():
            said = _said(params.input_responses[key])
            if questions is not None:
                questions.answer(key, said)
            else:
                await self._known(job.id, self._kept(job.id).answer(key, said))
        return Acknowledged()

    async def _cancel(self, _context: Any, params: TaskParams) -> Acknowledged:
        """Cancel the task."""
        _check(params.task_id)
        await self._known(
            params.task_id, self._kernel.services.jobs.cancel(params.task_id, self._who())
        )
        return Acknowledged()

    async def _asked(self, job: Job) -> dict[str, dict[str, Any]]:
        """Return the open questions of a task, which another process may have asked."""
        questions = self._questions.get(job.id)
        if questions is not None:
            return questions.requests()
        return await self._kept(job.id).requests() if job.state == "running" else {}

    def _kept(self, task_id: str) -> KeptQuestions:
        return KeptQuestions(self._kernel.services.rows_of("tasks"), task_id)

    async def _known(self, task_id: str, found: Awaitable[T]) -> T:
        """Return the job; the job of another principal counts as unknown."""
        try:
            return await found
        except VrError as error:
            if error.code in (Code.NOT_FOUND, Code.INVALID_INPUT):
                error = VrError(
                    f"There is no task {task_id[:40]}.",
                    Code.NOT_FOUND,
                    category="JOB_UNKNOWN",
                    hint="job_list names the jobs that there are; old ones are removed.",
                )
            told = self._kernel.error_for(principal(), error)
            raise protocol_error(told.as_dict(task_id[:40])) from None

    def _who(self) -> str:
        return principal() or self._kernel.identity.principal


def _check(task_id: str) -> None:
    """Refuse a client that does not support tasks, and a header that names another task."""
    if not follows_tasks(get_context()):
        raise McpError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            f"The client did not declare the extension {TASKS_EXTENSION_ID}.",
            {"requiredCapabilities": {"extensions": {TASKS_EXTENSION_ID: {}}}},
        )
    try:
        named = get_http_request().headers.get(NAME_HEADER, task_id)
    except RuntimeError:  # no HTTP
        return
    if named != task_id:
        raise McpError(HEADER_MISMATCH, "The header Mcp-Name names another task than the request.")


def _said(response: Any) -> ElicitResult:
    try:
        return ElicitResult.model_validate(response)
    except ValidationError:
        raise McpError(INVALID_PARAMS, "An answer has an action, and a content.") from None
