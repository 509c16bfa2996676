"""Clones are made over https, with a certificate of a host's own, and held to the address that was checked."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from swarmgate.errors import UsageError, WorkspaceError
from swarmgate.server.repositories.addresses import checked, normalised
from swarmgate.workspace.git.copies import cloning

HOST = "git.example.test"
"""A name that no resolver knows (RFC 6761): what reaches it was pinned to the address that was checked."""


class _Smart(BaseHTTPRequestHandler):
    """Hands requests to git's own server side, and sends those below /moved elsewhere."""

    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", self.path.replace("/moved", "", 1))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, env=environment, check=True, timeout=60
        )
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(next((int(value[:3]) for name, value in fields if name == "Status"), 200))
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Says nothing: the output of tests is for what fails."""


@contextmanager
def _served(root: Path, certificate: Path) -> Iterator[int]:
    """Serves the repositories below a folder over https; gives the port."""
    key = certificate.with_name("key.pem")
    made = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2"]
    named = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    subprocess.run(["openssl", "req", "-x509", *made, *named], check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    handler = type("_Handler", (_Smart,), {"root": root})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_repository_is_cloned_over_https_from_the_address_that_was_checked(
    tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "remotes/team/parts"
    source.mkdir(parents=True)
    git(source, "init", "--quiet", "--initial-branch=main")
    (source / "part.py").write_text("PART = 1\n")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "-m", "A part")
    certificate = tmp_path / "certificate.pem"

    def here(_host: str, _port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    with _served(tmp_path / "remotes", certificate) as port:
        url = normalised(f"https://{HOST}:{port}/team/parts/.git")
        with pytest.raises(UsageError, match=r"no public address"):
            checked(url, resolve=here)
        address = checked(url, private_hosts=(HOST,), resolve=here)
        with pytest.raises(WorkspaceError, match="certificate"):
            cloning.clone(address.url, tmp_path / "untrusted", settings=address.settings)
        monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
        cloning.clone(address.url, tmp_path / "clone", settings=address.settings)
        assert (tmp_path / "clone/part.py").read_text() == "PART = 1\n"
        assert not (tmp_path / "untrusted").exists()

        (source / "part.py").write_text("PART = 2\n")
        git(source, "commit", "--quiet", "-am", "Another")
        newest = cloning.refresh(tmp_path / "clone", base="main", settings=address.settings)
        assert newest == git(source, "rev-parse", "HEAD")

        moved = checked(f"https://{HOST}:{port}/moved/team/parts/.git", private_hosts=(HOST,), resolve=here)
        with pytest.raises(WorkspaceError, match="302"):
            cloning.clone(moved.url, tmp_path / "moved", settings=moved.settings)
