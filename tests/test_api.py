"""The public face is what docs/api.md lists, is typed, and does not change without a note in CHANGELOG.md."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import subprocess
import sys
import tomllib
import typing
from pathlib import Path

import pytest
from tests.docs_scripts import script

import swarmgate
import swarmgate.gates

ROOT = Path(__file__).parent.parent
DISTRIBUTION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_list_of_public_names_is_up_to_date_and_its_fingerprint_stands_in_the_changelog() -> None:
    api = script("render_api")
    page = (ROOT / "docs/api.md").read_text("utf-8")
    assert api.DERIVED.rendered() == page, "python docs/render_api.py"
    assert f"`{api.fingerprint()}`" in (ROOT / "CHANGELOG.md").read_text("utf-8"), (
        f"a public name changed: say in CHANGELOG.md what, with the fingerprint `{api.fingerprint()}` of docs/api.md"
    )


def test_a_change_of_a_signature_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    api = script("render_api")
    before = api.fingerprint()
    shutil.copytree(ROOT / "src/swarmgate", tmp_path / "swarmgate", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(api, "SOURCE", tmp_path)
    assert api.fingerprint() == before
    check = tmp_path / "swarmgate/gates/verbs/check.py"
    check.write_text(check.read_text().replace("skip: tuple[str, ...] = ()", "skip: tuple[str, ...]"))
    assert api.fingerprint() != before


def test_what_is_listed_can_be_imported_from_where_it_is_said_to_be() -> None:
    assert swarmgate.__version__ == DISTRIBUTION["version"]
    assert set(swarmgate.__all__) == {"Swarm", "SwarmError", "__version__"}
    for module, names in ((swarmgate, swarmgate.__all__), (swarmgate.gates, swarmgate.gates.__all__)):
        for name in names:
            assert getattr(module, name)
    with pytest.raises(AttributeError, match="no attribute 'Hive'"):
        getattr(swarmgate, "Hive")  # noqa: B009 - as a program asks for it, and mypy would refuse it
    with pytest.raises(AttributeError, match="no attribute 'Hive'"):
        getattr(swarmgate.gates, "Hive")  # noqa: B009 - as above


def test_it_is_typed() -> None:
    assert (Path(swarmgate.__file__).parent / "py.typed").exists()
    hints = typing.get_type_hints(swarmgate.gates.check)
    assert set(hints) == {"repo", "base", "only", "skip", "return"}
    for name, method in inspect.getmembers(swarmgate.Swarm, inspect.isfunction):
        if not name.startswith("_"):
            assert "return" in method.__annotations__, name
            assert method.__doc__, name


def test_importing_it_loads_nothing_else() -> None:
    program = "import sys, swarmgate; print(sorted(m for m in sys.modules if m.startswith('swarmgate')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['swarmgate', 'swarmgate.version']"


def test_gates_are_checked_in_a_loop_that_runs_as_outside_of_one(repo: Path) -> None:
    (repo / "token.py").write_text('"""A key."""\n\nKEY = "AKIA' + "Z7Q2N5X8L4V6B3M9" + '"\n')

    async def inside() -> swarmgate.gates.Judged:
        return swarmgate.gates.check(repo, only=("secret_scan",))

    for judged in (swarmgate.gates.check(str(repo), only=("secret_scan",)), asyncio.run(inside())):
        assert (judged.exit_code, judged.report.passed) == (1, False)
        assert [(each.gate, each.findings[0].path) for each in judged.report.blocking] == [("secret_scan", "token.py")]


def test_what_cannot_be_judged_is_an_error_with_a_hint(tmp_path: Path, repo: Path) -> None:
    with pytest.raises(swarmgate.SwarmError):
        swarmgate.gates.check(tmp_path / "nowhere")
    with pytest.raises(swarmgate.SwarmError, match="nonsense"):
        swarmgate.gates.check(repo, only=("nonsense",))
