"""Tests the replay of patches by the loop's own steps, end to end over a real repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.confined import NO_PLUGINS

from swarmgate.config import Config
from swarmgate.errors import UsageError
from swarmgate.evaluation.patches.arms import Arm
from swarmgate.evaluation.patches.dataset import AgentPatch
from swarmgate.evaluation.patches.measure import Selection, measure
from swarmgate.workspace.git.copies.single_commit import apply_patch, lay_out

if TYPE_CHECKING:
    from collections.abc import Callable

    Git = Callable[..., str]

LIB = "def double(number: int) -> int:\n    return number + number\n"
OLD_TEST = "from lib import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
RIGHT = "def double(number: int) -> int:\n    return 2 * number\n"
BROKEN = "def double(number: int) -> int:\n    return 2 * nunber\n"
WRONG = "def double(number: int) -> int:\n    return 3 * number\n"
NEW_TEST = "from lib import double\n\n\ndef test_double_of_three():\n    assert double(3) == 6\n"


CONFIG = Config.model_validate({"commands": {"env": [NO_PLUGINS]}})


@pytest.fixture
def clone(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(NO_PLUGINS, "1")
    place = tmp_path / "clones" / "o__r"
    place.mkdir(parents=True)
    git(place, "init", "--quiet")
    (place / "lib.py").write_text(LIB, encoding="utf-8")
    (place / "test_lib.py").write_text(OLD_TEST, encoding="utf-8")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "base")
    return place


def _patch(clone: Path, git: Git, name: str, text: str, label: str, **more: str) -> AgentPatch:
    (clone / "lib.py").write_text(text, encoding="utf-8")
    patch = git(clone, "diff")
    git(clone, "checkout", "--quiet", "--", ".")
    command = f"{sys.executable} -m pytest -q"
    made = {"id": name, "repo": "o/r", "base": git(clone, "rev-parse", "HEAD").strip(), "patch": patch, "label": label}
    return AgentPatch.model_validate({**made, "test_command": command, **more})


def test_what_is_laid_out_holds_one_commit_and_nothing_of_its_history(clone: Path, git: Git, tmp_path: Path) -> None:
    base = git(clone, "rev-parse", "HEAD").strip()
    (clone / "later.py").write_text("answer = 42\n", encoding="utf-8")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "the answer")
    place = tmp_path / "replayed"
    place.mkdir()
    lay_out(clone, base, place, apart=True)
    assert git(place, "rev-list", "--all", "--count").strip() == "1"
    assert (place / "lib.py").read_text() == LIB
    assert "answer" not in git(place, "cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert apply_patch(place, "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-x\n+y\n")


@pytest.mark.slow
def test_gates_block_what_a_program_can_see_and_rows_are_kept(clone: Path, git: Git, tmp_path: Path) -> None:
    patches = (_patch(clone, git, "a-1", RIGHT, "right"), _patch(clone, git, "a-2", BROKEN, "wrong"))
    told: list[str] = []

    def run() -> dict[str, str]:
        report = measure(
            patches, clone.parent, [Arm.GATES], config=CONFIG, out=tmp_path / "out",
            on_row=lambda row, *_: told.append(row.id),
        )  # fmt: skip
        return {row.id: row.blocked for row in report.rows}

    found = run()
    assert found["a-1"] == ""
    assert found["a-2"].startswith("gates: ")
    assert told == ["a-1", "a-2"]
    damaged = next((tmp_path / "out" / "rows").iterdir())
    damaged.write_text("{", encoding="utf-8")
    assert run() == found
    assert len(told) == 3, "a row that is whole is not made again"
    assert json.loads((tmp_path / "out" / "report.json").read_text())["arms"][0]["catch"] == 1.0
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.slow
def test_hidden_tests_reject_what_existing_tests_let_in(clone: Path, git: Git, tmp_path: Path) -> None:
    sly = _patch(clone, git, "a-1", LIB.replace("number + number", "4"), "wrong", test_patch=_hidden())
    report = measure((sly,), clone.parent, [Arm.TESTS, Arm.PROOF], config=CONFIG, jobs=2, out=tmp_path / "out")
    assert {row.arm: row.blocked for row in report.rows} == {Arm.TESTS: "", Arm.PROOF: "tests"}


@pytest.mark.slow
def test_hidden_tests_replace_what_the_patch_made_of_their_files(clone: Path, git: Git, tmp_path: Path) -> None:
    own = "def test_more():\n    assert True\n"
    right = _patch(clone, git, "a-1", RIGHT, "right", test_patch=_hidden())
    both = f"{right.patch}\n--- /dev/null\n+++ b/test_more.py\n@@ -0,0 +1,2 @@\n{_added(own)}"
    patches = (right.model_copy(update={"patch": both}),)
    report = measure(patches, clone.parent, [Arm.PROOF], config=CONFIG, out=tmp_path / "out")
    assert [(row.trouble, row.blocked) for row in report.rows] == [("", "tests prove nothing")]


@pytest.mark.slow
def test_neither_a_test_that_was_red_before_nor_the_lack_of_new_ones_blocks(
    clone: Path, git: Git, tmp_path: Path
) -> None:
    red = "def test_red():\n    assert False\n"
    (clone / "test_red.py").write_text(red, encoding="utf-8")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "red")
    long = RIGHT + "".join(f"_SIZE_{number} = {number}\n" for number in range(60))
    patches = (_patch(clone, git, "a-1", long, "right"), _patch(clone, git, "a-2", WRONG, "wrong"))
    report = measure(patches, clone.parent, [Arm.TESTS], config=CONFIG, out=tmp_path / "out")
    assert {row.id: row.blocked for row in report.rows} == {"a-1": "", "a-2": "tests"}


def test_what_cannot_be_replayed_is_told_and_counts_nowhere(clone: Path, git: Git, tmp_path: Path) -> None:
    lost = _patch(clone, git, "a-1", RIGHT, "right", base="2" * 40)
    elsewhere = _patch(clone, git, "a-2", RIGHT, "right", repo="o/other")
    report = measure((lost, elsewhere), clone.parent, [Arm.GATES], config=CONFIG, out=tmp_path / "out")
    assert set(report.untried) == {"gates: the clone of o/r lacks its base", "gates: no clone of o/other"}
    assert report.arms == ()
    with pytest.raises(UsageError, match="holds no clone of o/other"):
        measure((elsewhere,), clone.parent, [Arm.GATES], config=CONFIG, out=tmp_path / "out")


def test_a_sample_is_of_each_model_and_label(clone: Path, git: Git) -> None:
    patches = tuple(
        _patch(clone, git, f"a-{number}", RIGHT, label) for number in range(6) for label in ("right", "wrong")
    )
    chosen = Selection(sample=2, seed=1).of(patches)
    assert [sum(each.label == label for each in chosen) for label in ("right", "wrong")] == [2, 2]
    assert chosen == Selection(sample=2, seed=1).of(patches)
    assert {each.half for each in Selection(half="held").of(patches)} <= {"held"}


def _hidden() -> str:
    return f"--- /dev/null\n+++ b/test_more.py\n@@ -0,0 +1,5 @@\n{_added(NEW_TEST)}"


def _added(text: str) -> str:
    return "".join(f"+{line}\n" for line in text.splitlines())
