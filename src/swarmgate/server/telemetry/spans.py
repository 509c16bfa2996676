"""OpenTelemetry spans of what agents do, by the names of its conventions for generative AI, which stand here alone.

    invoke_workflow goal
    └── invoke_agent coder
        ├── chat local/coder-1
        └── execute_tool write_file

They are sent where `[server.telemetry] otlp_endpoint` names somebody, and made nowhere else.
"""

# ruff: noqa: PLC0415 - late, for start-up time: OpenTelemetry takes half a second, and most servers send no spans

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swarmgate.domain.operations import Follower, Note, Operation, Value, followed

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

OPERATIONS = {
    Operation.WORKFLOW: "invoke_workflow",
    Operation.AGENT: "invoke_agent",
    Operation.MODEL: "chat",
    Operation.TOOL: "execute_tool",
}
"""`gen_ai.operation.name`, with which the name of a span begins."""

_NAMED = {
    Operation.WORKFLOW: "gen_ai.workflow.name",
    Operation.AGENT: "gen_ai.agent.name",
    Operation.MODEL: "gen_ai.request.model",
    Operation.TOOL: "gen_ai.tool.name",
}

_ATTRIBUTES = {
    (Operation.AGENT, "model"): "gen_ai.request.model",
    (Operation.MODEL, "model"): "gen_ai.response.model",
    (Operation.MODEL, "prompt"): "gen_ai.usage.input_tokens",
    (Operation.MODEL, "completion"): "gen_ai.usage.output_tokens",
    (Operation.TOOL, "call"): "gen_ai.tool.call.id",
    (Operation.WORKFLOW, "record"): "gen_ai.conversation.id",
}
"""What the conventions have a name for; all else is `swarmgate.<name>`."""

_CONTENT = {
    "asked": "gen_ai.input.messages",
    "said": "gen_ai.output.messages",
    "arguments": "gen_ai.tool.call.arguments",
    "goal": "swarmgate.goal",
}
"""What people, models and agents said: sent only where `[server.telemetry] content` is on, and redacted."""

_LONGEST = 8_000
"""Characters of a content."""
_FLUSH_MS = 5_000


def follower(tracer: Tracer, redact: Callable[[str], str] | None) -> Follower:
    """What makes a span of each operation.

    Args:
        tracer: by which the spans are made.
        redact: masks the secrets of a content; None: contents are left out.
    """
    from opentelemetry.trace import SpanKind

    def attributes(kind: Operation, known: dict[str, Value]) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for name, value in known.items():
            if name not in _CONTENT:
                found[_ATTRIBUTES.get((kind, name), f"swarmgate.{name}")] = value
            elif redact is not None:
                found[_CONTENT[name]] = redact(str(value))[:_LONGEST]
        return found

    @contextmanager
    def follow(kind: Operation, name: str, known: dict[str, Value]) -> Iterator[Note]:
        start = {"gen_ai.operation.name": OPERATIONS[kind], _NAMED[kind]: name, **attributes(kind, known)}
        outside = kind is Operation.MODEL
        with tracer.start_as_current_span(
            f"{OPERATIONS[kind]} {name}",
            kind=SpanKind.CLIENT if outside else SpanKind.INTERNAL,
            attributes=start,
            record_exception=False,  # its message may hold what an agent said
        ) as span:
            try:
                yield lambda later: span.set_attributes(attributes(kind, later))
            except BaseException as error:
                span.set_attribute("error.type", getattr(error, "code", type(error).__name__))
                raise

    return follow


@contextmanager
def exported(
    endpoint: str, *, content: Callable[[str], str] | None = None, exporter: SpanExporter | None = None
) -> Iterator[None]:
    """Sends a span for each operation inside of the block; what is left is sent at its end, within seconds.

    Where nobody takes the spans they are dropped: the work goes on.

    Args:
        endpoint: the address of a collector, OTLP over HTTP, such as `http://127.0.0.1:4318`; empty: nothing is sent.
        content: masks secrets, where what was said is to be sent, too; None: it is not.
        exporter: what sends, in the place of the one over HTTP.
    """
    if not endpoint and exporter is None:
        yield
        return
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from swarmgate.version import __version__

    provider = TracerProvider(
        resource=Resource.create({"service.name": "swarmgate", "service.version": __version__}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(exporter or _over_http(endpoint)))
    try:
        with followed(follower(provider.get_tracer("swarmgate", __version__), content)):
            yield
    finally:
        provider.force_flush(_FLUSH_MS)
        provider.shutdown()


def _over_http(endpoint: str) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
