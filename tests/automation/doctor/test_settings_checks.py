"""Tests the doctor's checks of contradictions, of guardrails that are off, and of shared models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from swarmgate.automation.doctor import contradictions, guardrails, shared_models
from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places, SettingsFile
from swarmgate.config import load
from swarmgate.gates.definition import load as load_gates

MODELS = """
[providers.a]
base_url = "http://127.0.0.1:9/v1"
[roles.default]
model = "a/one"
[roles.coder]
model = "a/two"
"""


class Look:
    """The three checks on one text of settings."""

    def __init__(self, repo: Path, text: str, environ: dict[str, str]) -> None:
        path = repo / "config.toml"
        path.write_text(text)
        config = load(user_file=repo / "none.toml", project_file=path, environ=environ)
        places = Places((SettingsFile(".swarm/config.toml", path, text),), environ)
        gates = load_gates(repo)
        self.contradictions = contradictions.inspect(config, places, tuple(each.id for each in gates))
        self.guardrails = guardrails.inspect(config, places, gates)
        self.sharing = shared_models.inspect(config, places)

    @property
    def all(self) -> tuple[Problem, ...]:
        return (*self.contradictions, *self.guardrails, *self.sharing)


def test_nothing_is_wrong_with_the_defaults(repo: Path) -> None:
    assert Look(repo, "", {}).all == ()
    assert Look(repo, MODELS, {}).all == ()


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[automation]\nmode = "manual"\n[automation.capabilities]\nconfig_doctor_autofix = true\n', 4, "never looks"),
        (f'{MODELS}fallback = ["a/two"]\n', 8, "its own fallback"),
        (f'{MODELS}fallback = ["a/x", "a/x"]\n', 8, "named twice"),
        (f"{MODELS}max_tokens = 9000\ncontext_tokens = 8000\n", 8, "does not fit"),
        (f"{MODELS}network = false\n", 8, "for agent programs"),
        (f"{MODELS}timeout_s = 4000\n", 8, "breaker ends the whole turn after 1800 s"),
        (f"{MODELS}timeout_s = 100\nsilence_s = 200\n", 9, "silence_s = 200 is more than the whole call"),
        ('[authority.coder]\nallow = ["docs/**"]\ndeny = ["docs/**"]\n', 2, "denied wins"),
        ("[budget]\nusd = 1.0\n[budget.task]\nusd = 2.0\n", 4, "[budget.task] usd = 2 is more than [budget] allows: 1"),
        ("[budget.run]\ntokens = 3_000_000\n[budget]\ntokens = 2_000_000\n", 2, "3,000,000 is more than [budget]"),
        ("[budget]\nusd = 1\n[council]\nusd = 3\n", 4, "[council] usd = 3"),
        ("[council]\ntokens = 900\ntotal_tokens = 800\n", 3, "one voice may use more"),
        ("[council]\ntimeout_s = 300\nwhole_s = 60\n", 2, "longer than the whole"),
        ("[commands]\ntimeout_s = 3600\n", 2, "longer than the coder's whole turn"),
        ('[gates]\nskip = ["sast_scn"]\n', 2, "no gate `sast_scn`"),
        ('[review]\nplan_mode = "single"\nplan_seats = ["pm", "engineer"]\n', 3, "no seat is ever asked"),
        ("[review]\nplan_rounds = 2\n", 2, "no plan_seats are named"),
        ('[providers.a]\nbase_url = "http://x/v1"\n[phase]\nmodels = ["a/b"]\n', 4, "nobody judges phases"),
        ("[review]\nsure = 0.9\n", 2, '`sure` counts with mode = "auto"'),
        ('[providers.a]\nbase_url = "http://x/v1"\n[review]\nchallenger = "a/b"\n', 4, "`challenger` is never asked"),
        ("[tests]\nmin_kill_rate = 0.9\n", 2, "nothing is mutated"),
    ],
)
def test_a_contradiction(repo: Path, text: str, line: int, said: str) -> None:
    (found,) = Look(repo, text, {}).contradictions
    assert (found.where, found.line) == (".swarm/config.toml", line)
    assert said in found.text


def test_a_sandbox_that_is_none_opens_what_else_was_closed(repo: Path) -> None:
    found = Look(repo, '[commands]\nsandbox = "none"\nnetwork = false\nwritable = ["~/x"]\n', {})
    assert [each.line for each in found.contradictions] == [3, 4]
    assert ["with all your rights" in each.message for each in found.guardrails] == [True]


def test_what_does_not_contradict(repo: Path) -> None:
    text = (
        '[automation]\nmode = "auto"\n[budget]\nusd = 5\n[budget.phase]\nusd = 5\n[budget.task]\nusd = 1\n[gates]\n'
        'skip = ["sbom_generate"]\n[review]\nmode = "auto"\nsure = 0.9\n[tests]\nmutation = true\nmin_kill_rate = 0.9\n'
        f'{MODELS}fallback = ["a/three"]\ntimeout_s = 100\n[roles.critic]\nmodel = "command:claude"\nnetwork = false\n'
    )
    assert Look(repo, text, {}).contradictions == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[gates]\nskip = ["secret_scan"]\n', "keys and passwords are committed"),
        ('[tests]\nmust_fail = "warn"\n', "tests that prove nothing"),
        ('[tests]\nvanished = "off"\n', "deleted or skipped"),
        ('[tests]\nadversarial = "off"\n', "nobody attacks"),
        ('[review]\nsecurity = "off"\n', "security review"),
        ("[review]\ncite = false\n", "quote nothing"),
        ('[scope]\nenforce = "off"\n', "any number of files"),
        ("[commands]\nnetwork = true\n", "send away"),
        ('[commands]\nallow = ["make *"]\n', "whatever the policy says"),
        ('[authority.reviewer]\nallow = ["**"]\n', 'reviewer may write "**"'),
        ("[breakers]\ntool_calls = 90_000\n", "as good as none"),
        ("[breakers.roles.coder]\nidle = 99\n", "idle = 99 is as good as none"),
    ],
)
def test_a_guardrail_that_is_off(repo: Path, text: str, said: str) -> None:
    (found,) = Look(repo, text, {}).guardrails
    assert said in found.message
    assert (found.severity, found.line) == ("warning", 2)


def test_a_gate_that_the_project_switches_off(repo: Path) -> None:
    (repo / ".swarm/gates").mkdir(parents=True)
    (repo / ".swarm/gates/secret_scan.toml").write_text('id = "secret_scan"\nenabled = false\n')
    (found,) = Look(repo, "", {}).guardrails
    assert found.text == ".swarm/gates/secret_scan.toml: is off: keys and passwords are committed"


def test_who_judges_its_own_work(repo: Path) -> None:
    (found,) = Look(repo, MODELS.replace("a/two", "a/one"), {}).sharing
    assert "a/one is the coder and the reviewer, the test_engineer, the critic" in found.message
    (found,) = Look(repo, f'{MODELS}[roles.critic]\nmodel = "a/two"\n', {}).sharing
    assert ("the critic" in found.message, "reviewer" in found.message, found.line) == (True, False, 9)


def test_a_variable_is_named_where_it_wins(repo: Path) -> None:
    variables: tuple[dict[str, Any], ...] = ({"SWARM_SCOPE__ENFORCE": "off"}, {"swarm_scope": '{"enforce": "off"}'})
    (found,) = Look(repo, '[scope]\nenforce = "warn"\n', variables[0]).guardrails
    assert found.text.startswith("environment variable SWARM_SCOPE__ENFORCE: ")
    places = Places((), variables[1])
    assert places.of("scope", "enforce") == ("environment variable swarm_scope", 0)
    assert places.of("scope", "max_outside") == ("", 0)


def test_settings_that_the_docs_show_do_not_contradict_themselves(repo: Path) -> None:
    """Guards that they switch off are told: they show how."""
    pages = (Path(__file__).parents[3] / "docs").glob("*.md")
    texts = [re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL) for page in pages]
    settings = [block for blocks in texts for block in blocks if block.startswith("# .swarm/config.toml\n")]
    assert len(settings) > 5
    assert [each.text for block in settings for each in Look(repo, block, {}).contradictions] == []
