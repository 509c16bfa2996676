"""Tests the security rules of all other languages: each finds its positive samples and no negative ones.

A sample marks the line under a comment: `ruleid: <id>` must be found there, `ok: <id>` must not. A found line without a
mark of its rule is an error too, so that the samples also show what else speaks on them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from swarmgate.gates.sast.rules import load

SAMPLES = Path(__file__).parents[1] / "samples" / "sast"
LANGUAGES = ("go", "java", "php", "c", "csharp", "ruby", "rust", "bash", "dockerfile", "github")
MARK = re.compile(r"(?:#|//|/\*|--)\s*(?P<kind>ruleid|ok):\s*(?P<ids>[\w.\-]+(?:\s*,\s*[\w.\-]+)*)")


class Mark(NamedTuple):
    """A rule at a line (from 1) of a sample."""

    path: str
    line: int
    rule: str


def rules_of(language: str) -> list[dict[str, Any]]:
    return [rule.raw for rule in load() if rule.id.startswith(f"swarmgate.{language}.")]


def marks_of(folder: Path) -> dict[str, set[Mark]]:
    """The marks below `folder` by kind; stacked mark lines all speak of the first line that is not one."""
    marks: dict[str, set[Mark]] = {"ruleid": set(), "ok": set()}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        waiting: list[tuple[str, str]] = []
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if mark := MARK.search(line):
                waiting += [(mark["kind"], rule.strip()) for rule in mark["ids"].split(",")]
                continue
            for kind, rule in waiting:
                marks[kind].add(Mark(path.relative_to(folder).as_posix(), number, rule))
            waiting = []
    return marks


def scan(rules: list[dict[str, Any]], folder: Path, workdir: Path) -> tuple[set[Mark], list[Any]]:
    """What the engine finds below `folder`, and the errors that it names. The samples are copied out of `tests/`,
    which the engine skips by default."""
    spec = find_spec("semgrep")
    assert spec is not None
    assert spec.origin is not None
    engine = workdir / "osemgrep"
    engine.symlink_to(Path(spec.origin).parent / "bin" / "semgrep-core")
    config = workdir / "rules.json"  # the engine loads no JSON from a folder
    config.write_text(json.dumps({"rules": rules}))
    shutil.copytree(folder, workdir / "code")
    command = [str(engine), "scan", "--experimental", f"--config={config}", "--json", "--metrics=off"]
    done = subprocess.run(
        [*command, "--disable-version-check", "code"],
        cwd=workdir,
        capture_output=True,
        check=False,
        timeout=120,
        env=os.environ | {"HOME": str(workdir)},
    )
    output = json.loads(done.stdout)
    found = {
        Mark(
            Path(result["path"]).relative_to("code").as_posix(),
            result["start"]["line"],
            "swarmgate." + result["check_id"].split("swarmgate.", 1)[1],
        )
        for result in output["results"]
    }
    return found, output["errors"]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_find_what_their_samples_mark(language: str, tmp_path: Path) -> None:
    rules = rules_of(language)
    marks = marks_of(SAMPLES / language)
    found, errors = scan(rules, SAMPLES / language, tmp_path)
    assert not errors
    assert marks["ruleid"] - found == set(), "not found"
    assert found & marks["ok"] == set(), "found where the sample is fine"
    assert found - marks["ruleid"] == set(), "found without a mark"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_has_both_kinds_of_sample(language: str) -> None:
    marks = marks_of(SAMPLES / language)
    names = {rule["id"] for rule in rules_of(language)}
    assert {mark.rule for mark in marks["ruleid"]} == names
    assert {mark.rule for mark in marks["ok"]} == names


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_are_complete(language: str) -> None:
    rules = rules_of(language)
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        metadata = rule["metadata"]
        assert re.fullmatch(rf"swarmgate\.{language}\.[a-z0-9]+(-[a-z0-9]+)*", rule["id"])
        assert rule["severity"] in {"ERROR", "WARNING", "INFO"}
        assert re.fullmatch(r"CWE-[1-9]\d*", metadata["cwe"])
        assert re.fullmatch(r"A(0[1-9]|10):2021", metadata["owasp"])
        assert metadata["confidence"] in {"HIGH", "MEDIUM", "LOW"}
        assert metadata["category"]
        assert len(re.findall(r"[.!](?:\s|$)", rule["message"])) >= 2, rule["id"]  # what is wrong, and the fix


def test_there_are_enough_rules() -> None:
    least = {"go": 12, "java": 14, "php": 10, "c": 8, "csharp": 6, "ruby": 6, "rust": 3, "bash": 4, "dockerfile": 4}
    for language, number in {**least, "github": 5}.items():
        assert len(rules_of(language)) >= number
