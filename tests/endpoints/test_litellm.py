"""LiteLLM's proxy, the real one, between swarmgate and the scripted server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.endpoints.environment import environment
from tests.project import Project

pytestmark = pytest.mark.slow

KEY = "sk-0123456789abcdef0123456789abcdef"  # the proxy starts with none that is weak
PATIENCE_S = 180
"""How long the proxy may take to start: it imports for half a minute where the disk is cold."""


@contextmanager
def proxied(upstream: str, folder: Path) -> Iterator[str]:
    """The base URL of a LiteLLM proxy that passes everything on to `upstream`."""
    python = environment("litellm", "litellm[proxy]")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    models = [
        {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_base": upstream, "api_key": "none"}}
        for name in ("senior", "junior")
    ]
    settings = folder / "litellm.yaml"
    settings.write_text(json.dumps({"model_list": models, "litellm_settings": {"telemetry": False}}))
    log = (folder / "litellm.log").open("w")
    command = [str(python.with_name("litellm")), "--config", str(settings), "--host", "127.0.0.1", "--port", str(port)]
    settled = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_MASTER_KEY": KEY}
    with log, subprocess.Popen(command, cwd=folder, env={**os.environ, **settled}, stdout=log, stderr=log) as process:
        try:
            _await(f"http://127.0.0.1:{port}/health/liveliness", process, folder / "litellm.log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - our own proxy
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"the proxy did not answer within {PATIENCE_S} s: {log.read_text()[-2000:]}")


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_run_completes_through_litellm(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    monkeypatch.setenv("PROXY_KEY", KEY)
    server = project.play()
    with proxied(server.base_url, tmp_path) as base_url:
        project.configure(providers__local={"base_url": base_url, "stream": stream, "api_key_env": "PROXY_KEY"})
        project.swarm("plan", "Add parts", exits=3)
        project.swarm("approve")
        project.swarm("run", exits=3)  # the checkpoint after the only phase
        project.swarm("approve")
        project.swarm("run")
    assert (project.root / "src/calc/part_1.1.py").exists()
    assert project.trailers()["Swarm-Task"] == "1.1"
    assert {bool(request.body.get("stream")) for request in project.requests} == {stream}
    assert not any(path.read_text().count("malformed") for path in project.folder.traces.glob("*.json"))
