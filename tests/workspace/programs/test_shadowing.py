"""Modules that Python imports before swarmgate's first line are found where an agent left them, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from swarmgate.workspace.programs import shadowing

_SHOW = "import sys; print(*(name.partition('.')[0] for name in sys.modules if name not in sys.builtin_module_names))"

_FROZEN = {"__main__", "_frozen_importlib", "_frozen_importlib_external"}
"""What comes from no file at all."""


def put(root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("")


@pytest.mark.parametrize("first", ["", "import re, sys; "])
def test_the_names_are_those_that_this_python_starts_with(tmp_path: Path, first: str) -> None:
    (tmp_path / "show.py").write_text(first + _SHOW)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-m", "show"], cwd=tmp_path, env=environ, check=True, capture_output=True, text=True
    )
    finders = {name for name in done.stdout.split() if name.startswith("__editable__")}
    assert set(done.stdout.split()) - finders - _FROZEN <= shadowing.NAMES


def test_such_modules_are_found_at_the_top_and_where_pythonpath_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"src{os.pathsep}/elsewhere")
    put(tmp_path, "warnings.py")
    start = shadowing.survey(tmp_path)
    for name in ("swarmgate.py", "src/sitecustomize.py", "encodings/__init__.py", "re.cpython-311-x86_64-linux-gnu.so"):
        put(tmp_path, name)
    (tmp_path / "usercustomize.py").symlink_to("/elsewhere/there")
    assert start.appeared() == (
        "encodings/__init__.py", "re.cpython-311-x86_64-linux-gnu.so", "src/sitecustomize.py", "swarmgate.py",
        "usercustomize.py",
    )  # fmt: skip


def test_ordinary_files_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    start = shadowing.survey(tmp_path)
    for name in ("types/index.d.ts", "types.ts", "operator.yaml", "collections/posts.md", "src/app/types.py",
                 "site/a.html",                 "app/enum.py", "warnings.md", "src/retry.py"):  # fmt: skip
        put(tmp_path, name)
    assert start.appeared() == ()
