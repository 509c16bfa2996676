"""Tests the redaction of settings in the doctor's output."""

from __future__ import annotations

import pytest

from swarmgate.automation.doctor import redaction

WORD = "mysecretpassword123"  # no shape tells it


@pytest.mark.parametrize(
    "line",
    [
        f'api_key = "{WORD}"',
        f"'X-Thing' = '{WORD}'",
        f'base_url = "http://user:{WORD}@host/v1"',
        f'local = {{ base_url = "http://x/v1", timeout_s = "60", api_key = "{WORD}", X-A = "{WORD}" }}',
        f'model = "command:agent --api-key {WORD} -v"',
        f"task_completed = \"curl -H 'X-Api-Key: {WORD}'\"",
        f"command = \"curl -H 'X-Api-Key: {WORD}' -H 'Authorization: Basic {WORD}'\"",
        f'mutation = "no" # api_key = "{WORD}"',
        f"# password: {WORD}",
        f"{WORD} in a long text",
        f'api_key_env = "{WORD}"',
    ],
)
def test_no_secret_is_shown(line: str) -> None:
    for mark in "+-":
        shown = redaction.of_settings(mark + line, {"api_key_env"})
        assert WORD not in shown
        assert shown.startswith(mark)


@pytest.mark.parametrize(
    "line",
    [
        "@@ -3 +3 @@", '-mutation = "no"  # for now', "+timeout_s = 60", "+[providers.local]", "+",
        "+# a comment = here",
        '+api_key_env = "OPENAI_API_KEY"', '-comand = "pytest -q"', '+skip = ["lint", "sast"]', "-tokens = '2_000'",
    ],
)  # fmt: skip
def test_what_changes_is_shown(line: str) -> None:
    assert redaction.of_settings(line, {"comand"}) == line


def test_sentences_about_keys_stay_as_they_are() -> None:
    told = "environment variable SWARM_PROVIDERS__A__API_KEY: unknown key `token`; MY_API_KEY is not set"
    assert redaction.masked(told) == told
    assert redaction.masked(f"coder=sh a.sh --token={WORD}") == "coder=sh a.sh --token=<hidden>"
