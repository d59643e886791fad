"""Spans of calls and requests, made when they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vr_plugin_tracing import names
from vr_plugin_tracing.attributes import Attributes, call_attributes, request_attributes
from vr_plugin_tracing.places import Place, place_of_call, place_of_request

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanKind
    from vr_kernel import CallFinished, RequestFinished

    from vr_plugin_tracing.settings import Names


class SpanMaker:
    """Makes spans of events; a span that is not sampled is None.

    A tracer of the library begins a span now and picks its ids; ours have both already, so the
    library's finished form is filled in directly.

    Args:
        resource: describes this program.
        shown: how principals and workspaces are shown.
        share: of the traces without a client's decision that are kept.
    """

    def __init__(self, resource: Resource, shown: Names, share: float) -> None:
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        from vr_kernel import VERSION

        self._resource = resource
        self._shown = shown
        self._share = share
        self._scope = InstrumentationScope(names.SCOPE, VERSION)

    def of_call(self, event: CallFinished, *, turn: bool) -> ReadableSpan | None:
        """Return the span of a call or a turn."""
        from opentelemetry.trace import Link, SpanKind

        place = place_of_call(event, self._share)
        if not place.sampled:
            return None
        inner = turn or bool(event.trace.parent)
        action = names.INVOKE_WORKFLOW if turn else names.EXECUTE_TOOL
        origin = place.parent_context
        return self._made(
            f"{action if inner else names.CALL_TOOL} {event.tool}",
            place,
            SpanKind.INTERNAL if inner else SpanKind.SERVER,
            call_attributes(event, self._shown, turn=turn),
            event,
            links=[Link(origin, {names.LINK: names.RESUMED_FROM})]
            if origin is not None and event.run > 1
            else [],
        )

    def of_request(self, event: RequestFinished) -> ReadableSpan | None:
        """Return the span of an attempt to ask a model."""
        from opentelemetry.trace import SpanKind

        place = place_of_request(event, self._share)
        if not place.sampled:
            return None
        attributes = request_attributes(event, self._shown)
        name = f"{attributes[names.OPERATION]} {event.model}"
        return self._made(name, place, SpanKind.CLIENT, attributes, event, links=[])

    def _made(
        self,
        name: str,
        place: Place,
        kind: SpanKind,
        attributes: Attributes,
        event: CallFinished | RequestFinished,
        links: list[Any],
    ) -> ReadableSpan:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import Status, StatusCode

        failed = attributes.get(names.ERROR)
        begin = int(event.started_at * 1e9)
        return ReadableSpan(
            name,
            place.context,
            place.parent_context,
            self._resource,
            attributes,
            links=links,
            kind=kind,
            status=Status(StatusCode.ERROR, str(failed)) if failed else Status(StatusCode.UNSET),
            start_time=begin,
            end_time=begin + int(event.duration_s * 1e9),
            instrumentation_scope=self._scope,
        )
