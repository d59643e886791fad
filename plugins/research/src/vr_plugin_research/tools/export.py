"""`research_export`."""

from __future__ import annotations

from vr_kernel import READ_ONLY, Call, tool

from vr_plugin_research.results.export import Format, ReportExport


@tool(effects=READ_ONLY, printed=("path",))
async def research_export(
    call: Call,
    report_id: str,
    format: Format = "md",  # noqa: A002 - the name that clients know
) -> ReportExport:
    """Write a report to a file; citations open at page or time."""
    import asyncio

    from vr_plugin_research.exports.files import MIME, write
    from vr_plugin_research.reports.stored import stored_report

    report = await stored_report(call.services, report_id)
    written = await write(call.services, report, format)
    kept = await asyncio.to_thread(call.artifact, written.content, MIME[format])
    return ReportExport(
        report_id=report.report_id,
        format=format,
        uri=kept.uri,
        path=str(kept.path),
        size=kept.size,
        notes=written.notes,
    )
