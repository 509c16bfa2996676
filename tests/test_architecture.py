"""No modules import each other in a circle; imports in functions and those for types count too."""

from __future__ import annotations

import re
from pathlib import Path

import grimp
import pytest

import swarmgate

_NOT_MODULES = {"config.toml", "gates.json", "gates.timeout_s", "ledger.append", "server.sqlite3"}
"""Files of `.swarm/`, a setting, a method of the ledger, and a file of the team server."""


def _circles(graph: grimp.ImportGraph) -> list[frozenset[str]]:
    """The sets of modules of which each reaches every other one, largest first."""
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    while done := {module for module, imported in imports.items() if not imported & imports.keys()}:
        imports = {module: imported - done for module, imported in imports.items() if module not in done}
    reached = {module: _reached(module, imports) for module in imports}
    circles = {frozenset(other for other in reach if module in reached[other]) for module, reach in reached.items()}
    return sorted(filter(None, circles), key=lambda circle: (-len(circle), sorted(circle)))


def _reached(module: str, imports: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    left = [module]
    while left:
        new = imports[left.pop()] & imports.keys() - found
        found |= new
        left += new
    return found


def _told(circles: list[frozenset[str]]) -> str:
    return "\n".join(f"{len(circle)} import each other: {', '.join(sorted(circle))}" for circle in circles)


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = _circles(grimp.build_graph("swarmgate", cache_dir=None))
    assert not found, _told(found)


def test_a_circle_is_found_however_it_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "going_round"
    package.mkdir()
    for name, text in {
        "__init__": "",
        "top": "from going_round import late\n",
        "late": "def go():\n    from going_round import typed\n",
        "typed": "import typing\nif typing.TYPE_CHECKING:\n    from going_round.plain import x\n",
        "plain": "from going_round import late, bottom\n",
        "bottom": "",
    }.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    found = _circles(grimp.build_graph("going_round", cache_dir=None))

    assert found == [frozenset(f"going_round.{name}" for name in ("late", "typed", "plain"))]
    assert _told(found) == "3 import each other: going_round.late, going_round.plain, going_round.typed"


def test_modules_that_docstrings_name_exist() -> None:
    """A name of a room with a module of it in backticks is one that can be opened; keys and files have other names."""
    source = Path(swarmgate.__file__).parent
    modules = {".".join(path.relative_to(source).with_suffix("").parts) for path in source.rglob("*.py")}
    folders = {module.rpartition(".")[0] for module in modules}
    rooms = "|".join(sorted({module.partition(".")[0] for module in modules if "." in module}))
    named = re.compile(rf"`((?:{rooms})(?:\.\w+)+)`")
    found = [(path, name) for path in source.rglob("*.py") for name in named.findall(path.read_text(encoding="utf-8"))]
    assert found
    stale = [
        f"{path.relative_to(source)}: {name}"
        for path, name in found
        if name not in _NOT_MODULES
        and not any(
            ".".join(name.split(".")[:length]) in modules | folders
            for length in (name.count("."), name.count(".") + 1)
            if length > 1
        )
    ]
    assert stale == []
