"""Tests the measurement of complexity: each function against itself in the base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Quality
from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.quality import functions, switch_cases

if TYPE_CHECKING:
    Project = Any


def branchy(count: int, name: str = "route", first: int = 0) -> str:
    tests = "".join(f"    if x == {n} and y:\n        x = y + {n}\n" for n in range(first, first + count))
    return f"def {name}(x, y):\n{tests}    return x\n"


def complaints(project: Project, rule: str = "complexity") -> list[str]:
    return [finding.message for finding in project.gate("quality_budget").findings if finding.rule == rule]


def test_ten_simple_new_functions_are_free(project: Project) -> None:
    names = [f"_part{n}" for n in range(10)]
    project.write("src/many.py", "\n\n".join(branchy(2, name, n * 7) for n, name in enumerate(names)))
    assert complaints(project) == []


def test_a_new_function_of_thirty_branches_fails(project: Project) -> None:
    lines = "".join(f"    if x == {n}:\n        return {n}\n" for n in range(30))
    project.write("src/big.py", f"def pick(x):\n{lines}    return None\n")
    result = project.gate("quality_budget")
    assert result.status is GateStatus.FAIL
    (found,) = [finding for finding in result.findings if finding.rule == "complexity"]
    assert (found.path, found.line) == ("src/big.py", 1)
    assert "pick (complexity new, 31): +26" in found.message


def test_a_function_may_grow_by_the_budget_and_no_more(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(1)})
    project.write("src/a.py", branchy(3))
    assert complaints(project) == []
    project.write("src/a.py", branchy(4))
    assert complaints(project) == ["route (complexity 3 -> 9): +6, where a change may add 5 to a function"]


@pytest.mark.parametrize(
    ("before", "after", "blocks"),
    [(0, 12, False), (0, 13, True), (1, 4, True), (1, 7, True), (5, 14, False)],
)
def test_what_is_far_beyond_the_budget_blocks_and_less_informs(
    project: Project, before: int, after: int, *, blocks: bool
) -> None:
    project.commit_files({"src/a.py": branchy(before) if before else ""})
    project.write("src/a.py", branchy(after))
    assert len(complaints(project)) == 1
    assert (project.gate("quality_budget").status is GateStatus.FAIL) is blocks
    assert project.gate("quality_budget", quality=Quality(max_complexity_delta=5)).status is GateStatus.FAIL


def test_what_was_complex_before_is_no_news(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(30)})
    project.write("src/a.py", "import os\n\n\n" + branchy(30).replace("return x", "return x + len(os.sep)"))
    assert complaints(project) == []


@pytest.mark.parametrize("new", ["src/b.py", "src/deep/c.py"])
def test_a_function_that_moved_to_another_file_is_not_new(project: Project, new: str) -> None:
    project.commit_files({"src/a.py": branchy(20) + "\n\ndef other():\n    return 1\n" * 3})
    project.write("src/a.py", "\n\ndef other():\n    return 1\n" * 3)
    project.write(new, branchy(20))
    assert complaints(project) == []


def test_a_renamed_function_in_a_renamed_file_is_not_new(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(20)})
    (project.root / "src/a.py").unlink()
    project.write("src/z.py", branchy(20, "dispatch"))
    assert complaints(project) == []


def test_a_function_split_in_two_costs_nothing(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(20)})
    second = branchy(10, "_second", 10)
    project.write("src/a.py", branchy(10).replace("return x", "return _second(x, y)") + "\n\n" + second)
    assert complaints(project) == []


def test_a_copy_is_new(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(20)})
    project.write("src/a.py", branchy(20) + "\n\n" + branchy(20, "again"))
    assert [message[:5] for message in complaints(project)] == ["again"]


def test_tests_may_branch(project: Project) -> None:
    project.write("tests/test_big.py", branchy(20, "test_all"))
    assert complaints(project) == []


def test_no_comment_forgives(project: Project) -> None:
    project.write("src/a.py", branchy(20).replace("(x, y):\n", "(x, y):\n    # lizard forgives\n"))
    project.write("src/b.py", "# GENERATED CODE\n" + branchy(20, "other", 30))
    assert len(complaints(project)) == 2


def test_plain_cases_are_a_table(project: Project) -> None:
    arms = "".join(f'    case "{n}": return {n};\n' for n in range(20))
    project.write(
        "src/a.ts", f"export function pick(x: string): number {{\n  switch (x) {{\n{arms}  }}\n  return 0;\n}}\n"
    )
    assert complaints(project) == []
    worked = "".join(
        f'    case "{n}":\n      if (y > {n}) {{ y = y * 2; }}\n      y = y - {n};\n      break;\n' for n in range(20)
    )
    project.write("src/a.ts", f"export function pick(x: string, y: number) {{\n  switch (x) {{\n{worked}  }}\n}}\n")
    assert len(complaints(project)) == 1


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("python", "match x:\ncase 1:\nreturn 2\ncase 2:\nreturn 3\ncase _:\nreturn 4", 3),
        ("go", "switch x {\ncase 1:\nreturn 2\ncase 2, 3:\nreturn 3\ndefault:\nreturn 0\n}", 2),
        ("c", "switch (x) {\ncase A::B:\nf();\nbreak;\ncase 2: return 1;\ncase 3:\na();\nb();\nbreak;\n}", 3),
        ("c", "switch (x) {\ncase A::B:\nf();\nbreak;\ncase 2: return 1;\ncase 3:\nif (a)\nb();\nbreak;\n}", 2),
        ("rust", "match x {\n1 => 2,\nA::B(c) => D::E(c),\n_ => {\nf();\ng();\n}\n}", 3),
        ("rust", "match x {\n1 => 2,\nA::B(c) => D::E(c),\n_ => {\nf()?;\ng();\n}\n}", 2),
        ("rust", "match x {\nA => {\nf();\ng();\n}\nB if c => {\nh();\ni();\n}\n}", 0),
        ("rust", "match x {\nA { b } => {\nlet y = b;\ng(y);\n}\nC => {\nh();\ni();\n}\n}", 2),
        ("go", "switch x := x.(type) {\ncase int:\nf(x)\ng(x)\ncase string:\nh(x)\ni(x)\n}", 2),
        ("go", "switch x := x.(type) {\ncase int:\nf(x)\ng(x)\ncase string:\nfor range x {\ni(x)\n}\n}", 0),
        ("ruby", "case x\nwhen 1 then 2\nwhen 3\nf\nelse 4\nend", 2),
        ("lua", "case 1: return 2", 0),
    ],
)
def test_what_a_plain_case_is(language: str, text: str, count: int) -> None:
    assert switch_cases.plain(language, ["head", *text.split("\n")]) == count


def test_anonymous_functions_are_matched_by_content(project: Project) -> None:
    body = "  if (x) { a(x); } else if (y && z) { b(y); }\n  for (const w of x) { if (w && y) { c(w); } }\n"
    first = f"list.each(function (x) {{\n{body}}});\n"
    project.commit_files({"src/a.js": first})
    project.write("src/a.js", "other.each(function (x) {\n  f(x);\n});\n" + first)
    assert complaints(project) == []


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["ts", "tsx", "js", "mts", "go", "rs", "java", "py", "pyw", "rb", "c", "kt", "vue"])
def test_a_file_that_is_broken_never_breaks_the_gate(suffix: str) -> None:
    for text in ("", "}}}}{{{{", "def f(:\n  if x", "function (", "\x00", "class A { void f() { if (", "((((((" * 500):
        measured = functions.measure(f"a.{suffix}", text)
        assert all(each.complexity >= 1 and each.line <= each.end for each in measured.functions), text


def test_an_unknown_language_has_no_functions() -> None:
    assert functions.measure("a.unknown", "if x { }").functions == ()


def test_the_budget_is_configurable_down_to_nothing(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(1)})
    project.write("src/a.py", branchy(2))
    assert project.gate("quality_budget", quality=Quality(max_complexity_delta=0)).status is GateStatus.FAIL
    project.write("src/a.py", branchy(30))
    off = project.gate("quality_budget", quality=Quality.model_validate({"max_complexity_delta": "off"}))
    assert off.status is GateStatus.PASS
    assert "weakened: max_complexity_delta off instead of 5" in off.reason


def test_a_string_that_is_never_closed_ends_all_the_same() -> None:
    escapes = 'x = "\\n\\t"\n' * 200 + "y = 1 + \\\n    2\n" * 40
    for quote in ('"""', "'''", "f'''", 'r"""'):
        measured = functions.measure("a.py", f"def f(a):\n    return {quote} open\n{escapes}")
        assert [each.name for each in measured.functions] == ["f"]
        assert functions.tokens_of("a.py", f"{quote}{escapes}")


def test_escapes_and_continued_lines_change_no_number() -> None:
    text = 'def f(a):\n    b = "\\"\\\\" if a \\\n        else "\\n"\n    return b\n\n\ndef g():\n    return 1\n'
    found = [(each.name, each.complexity, each.line, each.end) for each in functions.measure("a.py", text).functions]
    assert found == [("f", 2, 1, 4), ("g", 1, 7, 8)]


def summed(project: Project, limit: int = 5) -> list[str]:
    found = project.gate("quality_budget", quality=Quality(max_complexity_delta=limit))
    return [each.message for each in found.findings if each.rule == "complexity-sum" and each.severity == "medium"]


def test_a_limit_that_is_set_holds_for_all_functions_of_a_change_together(project: Project) -> None:
    project.commit_files({"src/a.py": branchy(1, "one") + "\n\n" + branchy(1, "two", 5), "src/b.py": branchy(3)})
    project.write("src/a.py", branchy(2, "one") + "\n\n" + branchy(2, "two", 5))
    assert summed(project) == []
    project.write("src/c.py", branchy(1, "three", 9))
    assert summed(project) == ["complexity +6 in sum, where one task may add 5: src/a.py +4, src/c.py +2"]
    assert summed(project, 6) == []
    assert project.gate("quality_budget").status is GateStatus.PASS  # without a limit of the user's, each for itself
    project.write("src/b.py", branchy(1))
    assert summed(project) == []  # what is taken away counts


def test_ten_new_functions_within_the_bound_of_one_are_too_much_together(project: Project) -> None:
    for number in range(10):
        project.write(f"src/part{number}.py", branchy(4, f"_part{number}", number * 7))
    (message,) = summed(project)
    assert message.startswith("complexity +80 in sum, where one task may add 5: src/part0.py +8, src/part1.py +8")
    assert message.endswith("and 5 more")


@pytest.mark.parametrize("deletes", [True, False])
def test_code_that_moves_adds_nothing_in_sum(project: Project, *, deletes: bool) -> None:
    project.commit_files({"src/a.py": branchy(20)})
    if deletes:
        (project.root / "src/a.py").unlink()
    project.write("src/b.py", branchy(20) + "\n\ndef last(x, y):\n    return x + y\n" * 9)
    assert bool(summed(project)) is not deletes


def test_tests_add_nothing_in_sum(project: Project) -> None:
    project.write("tests/test_big.py", branchy(20, "test_all"))
    assert summed(project) == []
