"""Pushes over HTTP to git's own server, which asks who it is: the user's credential helper answers, or nobody does."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from swarmgate.errors import UsageError, WorkspaceError
from swarmgate.workspace.git.hosting import remotes
from swarmgate.workspace.git.repository import Repository

_EXEC = Path(subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip())
_BACKEND = _EXEC / "git-http-backend"
_HELPER = "!f() { echo username=me; echo password=right; }; f"
_GIVEN = "Basic " + base64.b64encode(b"me:right").decode()


class _Handler(BaseHTTPRequestHandler):
    """Hands a request to git's program for servers, as a web server does, once the password is right."""

    root: Path

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != _GIVEN:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        environ = {
            **os.environ, "GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": "me",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }  # fmt: skip
        done = subprocess.run([_BACKEND], input=body, env=environ, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        """Says nothing."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where an empty bare repository is served."""
    if not _BACKEND.exists():
        pytest.skip("this git has no program for servers (git-http-backend)")
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "srv/er.git")], check=True)
    _Handler.root = tmp_path / "srv"
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/er.git"
    server.shutdown()
    thread.join()
    server.server_close()


def git(repository: Repository, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=repository.root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_the_credentials_of_the_user_are_used_and_nothing_waits_for_a_password(repo: Path, address: str) -> None:
    repository = Repository.discover(repo)
    git(repository, "remote", "add", "origin", address)
    to = remotes.find(repository, "", branches=("work",))
    with pytest.raises(WorkspaceError) as refused:
        remotes.tips(repository, to, "work")
    assert "git asks who you are there, and got no answer" in refused.value.hint
    git(repository, "config", "credential.helper", _HELPER)
    head = git(repository, "rev-parse", "HEAD")
    assert remotes.tips(repository, to, "work") == {}
    remotes.push(repository, to, head, "work")
    assert remotes.tips(repository, to, "work") == {"work": head}
    git(repository, "config", "remote.origin.url", address.replace("//", "//me:wrong-password@"))
    git(repository, "config", "--unset", "credential.helper")
    to = remotes.find(repository, "", branches=("work",))
    with pytest.raises(WorkspaceError) as refused:
        remotes.tips(repository, to, "work")
    assert "wrong-password" not in refused.value.message + refused.value.hint


def test_the_remote_is_the_one_that_git_would_push_to(repo: Path, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    with pytest.raises(UsageError, match="no remote"):
        remotes.find(repository, "", branches=("work",))
    for name in ("mine", "theirs"):
        git(repository, "remote", "add", name, str(tmp_path / name))
    with pytest.raises(UsageError, match="none is the usual one") as refused:
        remotes.find(repository, "", branches=("work", "main"))
    assert refused.value.hint == "Name one with --remote: mine, theirs"
    with pytest.raises(UsageError, match="no remote '-f'"):
        remotes.find(repository, "-f", branches=())
    git(repository, "config", "branch.main.remote", "theirs")
    assert remotes.find(repository, "", branches=("work", "main")).name == "theirs"
    git(repository, "config", "remote.pushDefault", "mine")
    assert remotes.find(repository, "", branches=("work", "main")).name == "mine"
    git(repository, "config", "branch.work.pushRemote", "theirs")
    git(repository, "config", "remote.theirs.pushurl", "https://github.com/own/er")
    found = remotes.find(repository, "", branches=("work", "main"))
    assert (found.name, found.configured) == ("theirs", "https://github.com/own/er")
