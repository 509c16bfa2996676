from __future__ import annotations

import socket
from pathlib import Path

import pytest

from swarmgate.config import Server
from swarmgate.errors import UsageError
from swarmgate.server.serving.listening import address, bind, require_tls


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "[::1]")])
def test_what_is_bound_is_told_as_people_open_it(host: str, shown: str) -> None:
    with bind(host, 0) as bound:
        port = bound.getsockname()[1]
        assert bound.proto == socket.IPPROTO_TCP, "without it each answer waits for an acknowledgement of its head"
        assert address(bound) == f"http://{shown}:{port}"
        assert address(bound, tls=True) == f"https://{shown}:{port}"
        bound.listen()
        with pytest.raises(UsageError, match=f"port {port}") as refused:
            bind(host, port)
        assert "--port 0" in refused.value.hint


def test_a_host_that_is_not_here_is_told() -> None:
    with pytest.raises(UsageError, match=r"192\.0\.2\.1"):
        bind("192.0.2.1", 0)


def test_a_certificate_that_is_not_there_or_is_none_is_told_by_its_name(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    settings = Server(tls_cert=str(cert), tls_key=str(key))
    with pytest.raises(UsageError, match=r"tls_cert: .*cert\.pem: No such file"):
        require_tls(settings)
    cert.write_text("no certificate")
    with pytest.raises(UsageError, match=r"tls_key: .*key\.pem: No such file"):
        require_tls(settings)
    key.write_text("no key")
    with pytest.raises(UsageError, match="cannot be used") as refused:
        require_tls(settings)
    assert "PEM" in refused.value.hint
    require_tls(Server())
