"""Tests what is found of words that a change rewrites about code that it leaves alone."""

from __future__ import annotations

from tests.gates.conftest import Project

from swarmgate.domain.review.finding import GateStatus


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
