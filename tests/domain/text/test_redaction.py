from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.text.redaction import MASK, redact

WEAK = "hunter2" + "hunter"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-" + "abcdefghijklmnop1234",
        "ghp_" + "a1" * 18,
        "github_pat_" + "a1" * 20,
        "AKIA" + "ABCDEFGH12345678",
        "xoxb-" + "1234567890-abcdef",
        "AIza" + "b2" * 18,
        "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.abcdefghijkl",
        "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\nabc\n-----END RSA " + "PRIVATE KEY-----",
        "-----BEGIN " + "PRIVATE KEY-----\ncut off",
    ],
)
def test_shapes_of_keys_are_masked_wherever_they_stand(secret: str) -> None:
    for text in (secret, f"here: {secret}", json.dumps({"content": f"x:\n{secret}\t'{secret}'\n"})):
        assert MASK in redact(text)
        assert secret[12:28] not in redact(text)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer " + "abcdef123456", f"Authorization: Bearer {MASK}"),
        (f'password = "{WEAK}"', f'password = "{MASK}"'),
        (f'{{"db_password": "{WEAK}"}}', f'{{"db_password": "{MASK}"}}'),
        (f'{{\\"api_key\\": \\"{WEAK}\\"}}', f'{{\\"api_key\\": \\"{MASK}\\"}}'),
        (f"CLIENT_SECRET={WEAK}\nA=b", f"CLIENT_SECRET={MASK}\nA=b"),
        (f"postgres://ada:{WEAK}@db/x", f"postgres://ada:{MASK}@db/x"),
    ],
)
def test_what_is_named_a_secret_is_masked_and_its_name_stays(text: str, clean: str) -> None:
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "token = create_token(user)",
        "login(token=create_token(user))",
        "max_tokens=2000000",
        "risk-assessment-of-everything-in-here",
        'password: "too short to be valid"',
        "def check(password: str) -> bool:",
        "see https://example.com:8080/a@b",
    ],
)
def test_code_and_prose_stay_readable(text: str) -> None:
    assert redact(text) == text


def test_configured_keys_are_masked_whatever_they_look_like() -> None:
    assert redact("key plainword-1 in text", ["plainword-1", "in", ""]) == f"key {MASK} in text"


@given(st.text(alphabet="abc sk-=:'\"\\_password{}@/.\n1", max_size=300))
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def test_long_text_takes_linear_time() -> None:
    for unit in ("password", "a", "token=", "://a:", "-----BEGIN PRIVATE KEY-----", "sk-", '\\"', "_-"):
        started = time.process_time()
        redact(unit * (200_000 // len(unit)))
        assert time.process_time() - started < 1, unit
