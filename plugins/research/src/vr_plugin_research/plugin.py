"""The plugin's hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from vr_kernel import RecordKind, hookimpl

from vr_plugin_research.interactions.record_kinds import DEEP_RESEARCH_REPORTS
from vr_plugin_research.prompts import research_check, research_claim, research_question
from vr_plugin_research.record_kinds import RESEARCH_FINDINGS, RESEARCH_PLANS, RESEARCH_REPORTS
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.tools.assess import research_assess_evidence
from vr_plugin_research.tools.deep import research_deep
from vr_plugin_research.tools.document import research_document
from vr_plugin_research.tools.export import research_export
from vr_plugin_research.tools.plan import research_plan
from vr_plugin_research.tools.verify import research_verify
from vr_plugin_research.tools.web import (
    research_web,
    research_web_cancel,
    research_web_followup,
    research_web_status,
)


@hookimpl
def vr_settings() -> type[BaseModel]:
    """`[plugins.research]`."""
    return ResearchSettings


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [
        research_assess_evidence,
        research_deep,
        research_document,
        research_export,
        research_plan,
        research_verify,
        research_web,
        research_web_cancel,
        research_web_followup,
        research_web_status,
    ]


@hookimpl
def vr_views() -> list[Callable[..., Any]]:
    """The views of results and records."""
    from vr_plugin_research.views.declared import VIEWS

    return [*VIEWS]


@hookimpl
def vr_prompts() -> list[Callable[..., Any]]:
    """The prompts that people start with."""
    return [research_question, research_claim, research_check]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """The kinds of records."""
    return [RESEARCH_FINDINGS, RESEARCH_PLANS, RESEARCH_REPORTS, DEEP_RESEARCH_REPORTS]
