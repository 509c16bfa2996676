from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.project import GOAL, Project, call, code

from swarmgate.domain.operations import Operation, operation
from swarmgate.engine import Swarm
from swarmgate.server.telemetry.spans import exported

KEY = "sk-abcdefghijklmnop1234"


class Collector(ThreadingHTTPServer):
    """What takes OTLP over HTTP: the spans that came, as dicts."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.spans: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def named(self, name: str) -> dict[str, Any]:
        return next(span for span in self.spans if span["name"] == name)


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        asked = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.spans += [
            _span(each) for of in asked.resource_spans for scope in of.scope_spans for each in scope.spans
        ]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in http.server
        del format, args


def _span(each: Any) -> dict[str, Any]:
    values = {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in each.attributes}
    return {"name": each.name, "id": each.span_id, "parent": each.parent_span_id, "attributes": values}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


async def _work() -> None:
    with operation(Operation.WORKFLOW, "goal", goal="Build JWT auth"), operation(Operation.AGENT, "coder", task="1.2"):
        with operation(Operation.MODEL, "local/senior", asked=f"KEY: {KEY}") as note:
            note({"model": "local/junior", "said": "yes", "prompt": 12, "completion": 3})
        with operation(Operation.TOOL, "write_file", call="c1", arguments='{"path": "a.py"}'):
            await asyncio.sleep(0)


def test_a_workflow_has_its_agents_and_they_their_calls_and_tools(collector: Collector) -> None:
    with exported(collector.url):
        asyncio.run(_work())
    assert collector.paths == ["/v1/traces"]
    workflow, agent = collector.named("invoke_workflow goal"), collector.named("invoke_agent coder")
    chat, tool = collector.named("chat local/senior"), collector.named("execute_tool write_file")
    assert workflow["parent"] == b""
    assert agent["parent"] == workflow["id"]
    assert chat["parent"] == tool["parent"] == agent["id"]
    assert chat["attributes"] == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "local/senior",
        "gen_ai.response.model": "local/junior",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
    }
    assert tool["attributes"] == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "write_file",
        "gen_ai.tool.call.id": "c1",
    }


def test_what_was_said_is_sent_only_where_that_is_on_and_without_its_secrets(collector: Collector) -> None:
    with exported(collector.url, content=lambda text: text.replace(KEY, "[redacted]")):
        asyncio.run(_work())
    assert collector.named("chat local/senior")["attributes"]["gen_ai.input.messages"] == "KEY: [redacted]"
    assert collector.named("chat local/senior")["attributes"]["gen_ai.output.messages"] == "yes"
    assert collector.named("invoke_workflow goal")["attributes"]["swarmgate.goal"] == "Build JWT auth"


def test_an_error_ends_its_spans_and_what_it_says_is_not_sent(collector: Collector) -> None:
    with (
        pytest.raises(ValueError, match=KEY),
        exported(collector.url),
        operation(Operation.AGENT, "coder"),
        operation(Operation.TOOL, "read_file"),
    ):
        raise ValueError(KEY)
    assert [span["attributes"]["error.type"] for span in collector.spans] == ["ValueError", "ValueError"]
    assert KEY not in repr(collector.spans)


def test_where_nobody_follows_an_operation_is_just_done(collector: Collector) -> None:
    done = []
    with exported(""), operation(Operation.TOOL, "read_file") as note:
        note({"model": "x"})
        done.append("read_file")
    assert (done, collector.spans) == (["read_file"], [])


@pytest.mark.slow
def test_a_run_of_the_loop_is_a_workflow_with_an_agent_for_each_role(collector: Collector, project: Project) -> None:
    project.play(code({"src/calc/part_1.1.py": "VALUE = 1\n"}))
    with exported(collector.url):
        asyncio.run(Swarm(project.root).plan(GOAL))
    assert collector.named("invoke_agent architect")["parent"] == collector.named("invoke_workflow goal")["id"]
    assert collector.named("invoke_agent critic")["attributes"]["swarmgate.step"] == "review_plan"
    assert call("save_plan")["name"] not in {span["name"] for span in collector.spans}, "what ends a turn is no tool"
    assert GOAL not in repr(collector.spans)
