"""Tests what is found of words that a change rewrites about code that it leaves alone."""

from __future__ import annotations

import ast
import threading

from tests.gates.conftest import Project

from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.source import python_tree


def _module(number: int, words: str, mended: str = "") -> str:
    functions = (
        f'def part{each}(x):\n    """Gives {words} {each}.\n\n    >>> part{each}(1)\n    {1 + each}\n    """\n'
        f"    # added {words}\n    return x + {each}\n"
        for each in range(number)
    )
    return "\n\n".join(functions) + f"\n\ndef last(x):\n    return x{mended}\n"


def _rules(project: Project) -> list[tuple[str, int]]:
    found = project.gate("quality_budget").findings
    return [(each.severity, each.line) for each in found if each.rule == "reworded"]


def test_words_of_functions_that_stay_as_they_are_inform(project: Project) -> None:
    project.commit_files({"src/a.py": _module(3, "more")})
    project.write("src/a.py", _module(3, "something", " - 1"))
    assert _rules(project) == [("low", 1), ("low", 11), ("low", 21)]
    assert project.gate("quality_budget").status is GateStatus.PASS


def test_words_of_mended_code_words_that_are_added_and_layout_are_nothing(project: Project) -> None:
    project.commit_files({"src/a.py": _module(4, "more"), "src/b.py": _module(4, "more")})
    project.write("src/a.py", _module(4, "less").replace("return x +", "return x -"))
    project.write("src/b.py", _module(4, "more").replace("    # added", "    # by hand\n    # added") + "\n")
    assert _rules(project) == []


def test_code_of_any_depth_is_compared(project: Project) -> None:
    deep = f'def total():\n    """WORDS."""\n    return {" + ".join(["1"] * 1500)}\n'
    project.commit_files({"src/a.py": deep.replace("WORDS", "Adds\n\n    ones")})
    project.write("src/a.py", deep.replace("WORDS", "Sums"))
    assert project.gate("quality_budget").status is GateStatus.PASS
    assert [line for _, line in _rules(project)] in ([1], []), "a file that nobody can parse has no functions"


def test_a_tree_that_another_gate_hangs_parents_into_meanwhile_is_read(project: Project) -> None:
    """As griffe does for the gate of contracts: `deepcopy` of a node ends with a RuntimeError then."""
    text = "\n".join(_module(200, "more").splitlines())
    project.commit_files({"src/a.py": text})
    project.write("src/a.py", text.replace("more", "less"))
    nodes, done = list(ast.walk(python_tree.parse((project.root / "src/a.py").read_bytes()))), threading.Event()

    def hang() -> None:
        while not done.is_set():
            for node in nodes:
                vars(node)["parent"] = nodes[0]
            for node in nodes:
                vars(node).pop("parent", None)

    thread = threading.Thread(target=hang)
    thread.start()
    try:
        assert len(_rules(project)) == 200
    finally:
        done.set()
        thread.join()
