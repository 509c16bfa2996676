from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from swarmgate.server.telemetry.logs import configure

SECRET = "-".join(["hunter2"] * 2)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def _masked(text: str) -> str:
    return text.replace(SECRET, "[redacted]")


def test_a_line_is_json_with_its_values_and_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    configure(style="json", level="info", redact=_masked)
    log = structlog.get_logger("swarmgate.server")
    log.info("request", path=f"/login?x={SECRET}", status=200, headers={"Cookie": "a=b", "accept": ["x", SECRET]})
    line = json.loads(capsys.readouterr().err)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "request",
        "level": "info",
        "path": "/login?x=[redacted]",
        "status": 200,
        "headers": {"Cookie": "[redacted]", "accept": ["x", "[redacted]"]},
    }


def test_lines_of_other_packages_and_their_tracebacks_are_written_the_same_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure(style="json", level="info", redact=_masked)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("it broke: %s", SECRET)
    line = json.loads(capsys.readouterr().err)
    assert line["event"] == "it broke: [redacted]"
    assert "ValueError: [redacted]" in line["exception"]
    assert SECRET not in repr(line)


def test_lines_below_the_level_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure(style="text", level="warning", redact=_masked)
    structlog.get_logger("swarmgate.server").info("quiet")
    structlog.get_logger("swarmgate.server").warning("loud", password=SECRET)
    written = capsys.readouterr().err
    assert "quiet" not in written
    assert "loud" in written
    assert SECRET not in written
