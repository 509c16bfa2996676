"""Tests that every rule that a gate can report is explained."""

from __future__ import annotations

import asyncio
import re
import tomllib
from pathlib import Path

import pytest

from swarmgate import assets
from swarmgate.errors import UsageError
from swarmgate.gates import explain
from swarmgate.gates.definition import load
from swarmgate.gates.explain import Explained
from swarmgate.gates.quality import budget
from swarmgate.gates.sast import rules
from swarmgate.gates.tools import advice


def explained(rule: str) -> Explained:
    return asyncio.run(explain.explain(rule, load()))


@pytest.mark.parametrize(
    ("rule", "gate", "cwe"),
    [("link-into-git", "diff", "CWE-59"), ("contract-removed", "diff", ""), ("tsx-syntax", "syntax_check", ""),
     ("aws-access-key-id", "secret_scan", "CWE-798"), ("eslint:no-undef", "lint_check", ""),
     ("mypy:arg-type", "build_check", ""), ("F401", "lint_check", ""), ("S602", "lint_check", "CWE-78"),
     ("B602", "sast_scan", "CWE-78"), ("B301", "sast_scan", "CWE-502"),
     ("swarmgate.bash.eval-of-variable", "sast_scan", "CWE-95"), ("eval-of-variable", "sast_scan", "CWE-95")],
)  # fmt: skip
def test_rules_of_every_origin(rule: str, gate: str, cwe: str) -> None:
    found = explained(rule)
    assert gate in found.gates
    assert found.cwe == cwe
    assert found.title
    assert found.severity
    assert found.suppress


def test_a_rule_of_ruff_shows_why_and_an_example() -> None:
    found = explained("B006")
    assert "flake8-bugbear" in found.rule
    assert found.why
    assert "def " in found.example


@pytest.mark.parametrize("rule", ["B307", "B113", "B506", "B602", "B701", "B303"])
def test_a_test_of_bandit_says_why_and_what_to_do(rule: str) -> None:
    found = explained(rule)
    assert found.title
    assert found.why or rule == "B303"
    first, address = found.mend.split("\n")
    assert first
    assert address.startswith("https://bandit.readthedocs.io/en/latest/")


def test_there_is_advice_for_every_test_of_bandit_with_the_name_of_its_page() -> None:
    for rule, (name, _) in explain._bandit_texts().items():
        assert advice.what_to_do(rule), rule
        page = advice.address(rule).rpartition("/")[2]
        assert page in {f"{rule.lower()}_{name}.html", "blacklist_calls.html", "blacklist_imports.html"}
        assert "blacklist" not in page or rule[1] in "34"
    assert "ruff" in advice.mend("S999")


def test_a_gate_of_the_projects_own_is_explained_from_its_definition(tmp_path: Path) -> None:
    place = tmp_path / ".swarm/gates/no_print.toml"
    place.parent.mkdir(parents=True)
    place.write_text(
        'title = "No print"\ncommand = ["grep", "-nH", "print(", "{files}"]\nparser = "regex"\n'
        "pattern = '^(?P<path>[^:]+):(?P<line>\\d+):(?P<message>.*)$'\n[files]\nlanguages = [\"python\"]\n"
    )
    found = asyncio.run(explain.explain("no_print", load(tmp_path)))
    assert (found.gates, found.title) == (("no_print",), "No print")
    assert "runs `grep -nH 'print(' '{files}'`" in found.why
    assert "python" in found.why
    assert "baseline" in found.suppress


@pytest.mark.slow
def test_every_rule_of_our_packs_is_known() -> None:
    secrets = tomllib.loads((assets.gates() / "rules/secrets.toml").read_text("utf-8"))
    for raw in (*secrets["rule"], *secrets["assignment"]):
        assert explained(raw["id"]).title == raw["title"]
    for rule in rules.load():
        assert explained(rule.id).rule == rule.id


def test_every_rule_of_the_quality_budget_is_known() -> None:
    source = Path(budget.__file__).read_text(encoding="utf-8")
    rules = set(re.findall(r'\.add\(\s*"([\w-]+)"', source))
    assert "complexity-sum" in rules
    assert {explained(rule).gates for rule in rules} == {("quality_budget",)}


def test_texts_belong_to_gates_and_are_complete() -> None:
    gates = {gate.id for gate in load()} | {"imports"}
    for name, texts in explain._texts().items():
        assert name in gates
        assert set(texts) == {"suppress", "rules"}
        for rule, text in texts["rules"].items():
            assert (
                {"severity", "means", "why", "mend"}
                <= set(text)
                <= {"severity", "means", "why", "mend", "cwe", "example"}
            ), rule


def test_a_gate_is_explained_too() -> None:
    assert "link-out-of-repository" in explained("diff").why


@pytest.mark.parametrize(("typed", "meant"), [("stub-bdy", "stub-body"), ("F4O1", "F401"), ("aws-acces-key", "aws-")])
def test_an_unknown_rule_names_the_nearest(typed: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        explained(typed)
    assert meant in caught.value.hint
