"""`[server]`: where it may stand, and what is refused in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.config import Server, load
from swarmgate.errors import ConfigError

WORD = "geheim"


def refusal(tmp_path: Path, toml: str) -> str:
    file = tmp_path / "config.toml"
    file.write_text(toml)
    with pytest.raises(ConfigError) as caught:
        load(user_file=file, environ={})
    return caught.value.message.replace(f"{tmp_path}/", "")


def test_it_stands_in_the_users_file_in_variables_and_in_flags(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[server]\nport = 1\nconcurrency = 3\n[[server.notify]]\nurl = "https://chat.example.test/x"\n')
    environ = {"SWARM_SERVER__PORT": "2", "SWARM_SERVER__LIMITS__LOGINS_PER_MINUTE": "4"}
    server = load(user_file=file, environ=environ, flags={"server": {"host": "localhost"}}).server
    assert (server.port, server.concurrency, server.host, server.limits.logins_per_minute) == (2, 3, "localhost", 4)
    assert [each.url for each in server.notify] == ["https://chat.example.test/x"]


def test_a_projects_file_may_not_say_who_may_ask_the_server(tmp_path: Path) -> None:
    file = tmp_path / "project.toml"
    file.write_text('[tests]\ncommand = "true"\n[server.limits]\nlogins_per_minute = 1000\n')
    with pytest.raises(ConfigError) as caught:
        load(user_file=tmp_path / "mine.toml", project_file=file, environ={})
    assert caught.value.message.startswith(f"{file}, line 3: `server`: ")
    assert str(tmp_path / "mine.toml") in caught.value.hint
    assert "SWARM_SERVER__" in caught.value.hint


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (f'store = "redis://:{WORD}@10.0.0.1"', "holds a password"),
        ('store = "mysql://x"', 'must be "sqlite"'),
        ('host = "http://x"', "without a scheme"),
        ('trusted_proxies = ["proxy.example.org"]', "must be an address or a network"),
        (f'public_url = "https://u:{WORD}@x.example"', "holds a name or a password"),
        ('public_url = "https://x.example/below"', "without a path"),
        ('tls_cert = "a.pem"', "needs `tls_cert` and `tls_key` together"),
        ('[server.oidc]\nissuer = "https://id.example"', "no `client_id`"),
        ('[server.oidc]\nissuer = "http://id.example"\nclient_id = "x"', "it has to be https"),
        ('[server.oidc]\nissuer = "https://id.example"\nclient_id = "x"\nscopes = ["email"]', "without `openid`"),
        ("[[server.notify]]\nkind = 'slack'", "needs one of `url` and `url_env`"),
        ("[server.limits]\nwrites_per_minute = 0", "greater than or equal to 1"),
    ],
)
def test_what_is_refused_is_told_and_no_value_is_repeated(tmp_path: Path, toml: str, said: str) -> None:
    message = refusal(tmp_path, f"[server]\n{toml}\n")
    assert said in message
    assert "geheim" not in message


def test_the_password_of_a_store_comes_out_of_a_variable() -> None:
    server = Server(store="redis://ada@10.0.0.1:6379/2", store_password_env="REDIS_PASSWORD")
    quoted = "%2F".join("ab") + "%40c"
    assert server.store_address({"REDIS_PASSWORD": "/".join("ab") + "@c"}) == f"redis://ada:{quoted}@10.0.0.1:6379/2"
    assert server.store_address({}) == server.store
    assert Server(store="redis://h/0", store_password_env="P").store_address({"P": "x"}) == "redis://:x@h/0"
