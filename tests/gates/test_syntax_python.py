"""Tests the syntax check of Python: compiler messages, notebooks, the project's version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from swarmgate.gates.syntax import python, versions

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.gates.syntax.problem import Problem


@pytest.mark.parametrize(
    "content",
    [
        "return 1\n",
        "def f():\n    await g()\n",
        "def f(a, a): pass\n",
        "nonlocal x\n",
        "break\n",
        "1 = x\n",
        "f'{'\n",
        "if x:\n        a\n\tb\n",
        "x = (1]\n",
        "def f(:\n",
        "x = 'a\n",
        "f(a=1, 2)\n",
        "del f()\n",
        "\x0cx = (\n",
    ],
)
def test_what_the_compiler_rejects_is_found(content: str) -> None:
    problem = python.check(content.encode())
    assert problem is not None
    assert problem.line > 0
    assert problem.message.startswith("not valid Python 3.")
    assert "<file>" not in problem.message


@pytest.mark.parametrize(
    "content", [b"\x0c\r\nx = 1\r\n", b"\xef\xbb\xbf#!/usr/bin/python\nx = 1", b"async def f():\n    await g()\n"]
)
def test_odd_forms_are_sound(content: bytes) -> None:
    assert python.check(content) is None


def notebook(*cells: str | list[str], language: str = "python", **metadata: object) -> bytes:
    made = [{"cell_type": "code", "source": cell, "metadata": metadata} for cell in cells]
    return json.dumps({"cells": made, "metadata": {"language_info": {"name": language}}}, indent=1).encode()


def found(content: bytes) -> list[Problem]:
    result = python.check_notebook(content)
    assert not isinstance(result, str)
    return result


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = !ls\nfor a in x:\n    !echo {a}\n    %time f(a)\n",
        "%%bash\nif [ x ]; then\n",
        "await f()\n",
        "x?\n",
        "f??",
        "!pip install \\\n  a b\nx = 1",
        "%%time\nx = 1\n",
        "x = %sql select 1\n",
        "",
    ],
)
def test_cells_with_magics_are_sound(cell: str) -> None:
    assert python.check_notebook(notebook(cell)) == []


def test_a_wrong_cell_is_found_in_its_line() -> None:
    content = notebook("x = 1\n", ["y = 2\n", "z = (\n"])
    (problem,) = found(content)
    assert content.decode().split("\n")[problem.line - 1].strip() == '"z = (\\n"'
    assert "(line 2 of the cell)" in problem.message


def test_cells_that_are_meant_to_fail_or_no_python_are_left_alone() -> None:
    assert python.check_notebook(notebook("x = (", tags=["raises-exception"])) == []
    assert python.check_notebook(notebook("x <- c(", language="R")) == []
    assert python.check_notebook(b'{"cells": 1}') == []
    old = {"cells": [{"cell_type": "code", "source": "print x"}], "metadata": {"kernelspec": {"name": "python2"}}}
    assert python.check_notebook(json.dumps(old).encode()) == []
    (problem,) = found(b'{"cells": [')
    assert "JSON" in problem.message


@pytest.mark.parametrize(
    ("name", "text", "minor"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.9,<4"\n', 9),
        ("pyproject.toml", '[tool.ruff]\ntarget-version = "py310"\n', 10),
        ("pyproject.toml", '[tool.black]\ntarget-version = ["py39", "py38"]\n', 8),
        ("pyproject.toml", "not toml (\n", None),
        ("setup.cfg", "[options]\npython_requires = >=3.7\n", 7),
        ("setup.py", "setup(python_requires='>=3.8, !=3.9.0')\n", 8),
        ("setup.py", "setup(name='x')\n", None),
    ],
)
def test_the_oldest_version_comes_from_the_projects_files(
    tmp_path: Path, name: str, text: str, minor: int | None
) -> None:
    (tmp_path / name).write_text(text)
    assert versions.target(tmp_path) == minor


def test_ruffs_words_are_read() -> None:
    output = json.dumps(
        [
            {
                "code": "invalid-syntax",
                "filename": "a",
                "location": {"row": 2, "column": 3},
                "message": "SyntaxError: x",
            },
            {"code": "E902", "filename": "a", "location": {"row": 1, "column": 1}, "message": "gone"},
        ]
    )
    assert python.read_ruff(output) == {"a": [(2, 3, "x")]}
    with pytest.raises(ValueError, match="Expecting"):
        python.read_ruff("no json")
