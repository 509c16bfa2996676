"""Tests the detection of duplicated code that a change adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Quality
from swarmgate.domain.review.finding import GateStatus

if TYPE_CHECKING:
    Project = Any

WORK = """def summarise(orders, currency):
    totals = {}
    for order in orders:
        if order.cancelled or not order.lines:
            continue
        customer = order.customer.identifier
        amount = sum(line.price * line.quantity for line in order.lines)
        discount = amount * order.customer.discount_rate
        totals[customer] = totals.get(customer, 0) + amount - discount
    ranked = sorted(totals.items(), key=lambda pair: pair[1], reverse=True)
    report = []
    for position, (customer, total) in enumerate(ranked, start=1):
        report.append(f"{position}. {customer}: {total:.2f} {currency}")
    return report
"""


def copies(project: Project) -> list[tuple[str, str]]:
    result = project.gate("quality_budget", quality=Quality(max_duplication_ratio=0.05))
    found = [finding for finding in result.findings if finding.rule == "duplication"]
    assert bool(found) == (result.status is GateStatus.FAIL)
    return [(finding.place, finding.message.partition(";")[0]) for finding in found]


def test_a_copy_of_a_function_of_the_same_folder(project: Project) -> None:
    project.commit_files({"src/a.py": WORK, "src/other.py": "x = 1\n"})
    project.write("src/b.py", "import os\n\n\n" + WORK.replace("summarise", "summarise_again"))
    assert copies(project) == [("src/b.py:5", "12 lines are a copy of src/a.py:2")]


@pytest.mark.parametrize(("count", "status"), [(8, GateStatus.PASS), (9, GateStatus.FAIL)])
def test_by_default_a_hundred_copied_lines_block_and_fewer_inform(
    project: Project, count: int, status: GateStatus
) -> None:
    works = {n: WORK.replace("totals", f"sums_{n}").replace("ranked", f"order_{n}") for n in range(count)}
    project.commit_files({f"src/a_{n}.py": text for n, text in works.items()})
    project.write("src/b.py", "\n\n".join(text.replace("summarise", f"again_{n}") for n, text in works.items()))
    result = project.gate("quality_budget")
    assert result.status is status
    assert sum(each.rule == "duplication" for each in result.findings) == count


def test_a_copy_with_other_constants_and_comments(project: Project) -> None:
    project.commit_files({"src/a.py": WORK})
    changed = (
        WORK.replace("start=1", "start=7").replace("    ranked", "    # best first\n    ranked").replace(", 0)", ", 3)")
    )
    project.write("src/b.py", changed)
    assert len(copies(project)) == 1


def test_a_copy_within_a_file_and_of_two_new_ones_one_is_the_original(project: Project) -> None:
    project.write("src/a.py", WORK + "\n\n" + WORK.replace("summarise", "again"))
    assert copies(project) == [("src/a.py:18", "12 lines are a copy of src/a.py:2")]


def test_a_copy_in_another_language(project: Project) -> None:
    body = """  const found = [];
  for (const entry of entries) {
    if (entry.hidden || !entry.owner) { continue; }
    const label = formatter.describe(entry.owner, entry.title);
    const score = weights.base + entry.votes * weights.vote;
    found.push({ label, score, created: entry.created });
  }
  found.sort((left, right) => right.score - left.score);
  const best = found.slice(offset, offset + pageSize);
  const pages = Math.ceil(found.length / pageSize);
  return { best, pages, total: found.length };
}
"""
    project.commit_files({"web/a.ts": f"export function listed(entries: Entry[]) {{\n{body}"})
    project.write("web/b.ts", f"export function ranked(entries: Entry[]) {{\n{body}")
    assert [place for place, _ in copies(project)] == ["web/b.ts:2"]


def test_moved_code_and_renamed_files_are_no_copies(project: Project) -> None:
    project.commit_files({"src/a.py": WORK + "\n\nx = 1\n", "src/b.py": WORK.replace("totals", "sums") + "\n\ny = 1\n"})
    project.write("src/a.py", "x = 1\n")
    project.write("src/c.py", WORK)
    (project.root / "src/b.py").rename(project.root / "src/d.py")
    assert copies(project) == []


def test_a_copy_that_stood_there_before_is_no_news(project: Project) -> None:
    project.commit_files({"src/a.py": WORK, "src/b.py": WORK})
    project.write("src/b.py", WORK.replace("summarise", "renamed"))
    assert copies(project) == []
    project.write("src/b.py", "class Report:\n" + "".join(f"    {line}\n" for line in WORK.splitlines()))
    assert copies(project) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "".join(f"from package.module_{n} import first_{n}, second_{n}\n" for n in range(40)),
        "TABLE = [\n" + "".join(f'    ("name {n}", {n}, True),\n' for n in range(60)) + "]\n",
        "def rows():\n    return [\n" + "".join(f'        ("name {n}", {n}, True),\n' for n in range(60)) + "    ]\n",
        "def options(parser):\n"
        + "".join(f'    parser.add_argument("--o{n}", type=int, default={n}, help="option {n}")\n' for n in range(30)),
        "class Settings:\n" + "".join(f"    field_{n}: int = {n}\n" for n in range(60)),
        "# Licensed to you.\n" * 40 + "x = 1\n",
    ],
)  # fmt: skip
def test_imports_tables_declarations_and_licences_are_no_copies(project: Project, text: str) -> None:
    project.commit_files({"src/a.py": text})
    project.write("src/b.py", text.replace("name", "title").replace("Settings", "More"))
    assert copies(project) == []


def test_signatures_are_no_copies(project: Project) -> None:
    head = (
        "def call(\n    url,\n    *,\n"
        + "".join(f"    option_{n}=None,\n" for n in range(30))
        + "):\n    return send(url)\n"
    )
    project.commit_files({"src/a.py": head})
    project.write("src/b.py", head.replace("call", "fetch"))
    assert copies(project) == []


def test_tests_and_small_changes_may_repeat(project: Project) -> None:
    project.commit_files({"src/a.py": WORK})
    project.write("tests/test_a.py", WORK * 2)
    few = "def few(orders, order, totals):\n" + "".join(line + "\n" for line in WORK.splitlines()[5:9])
    project.write("src/b.py", few)
    assert copies(project) == []


def test_a_copy_in_a_large_change_is_a_small_share(project: Project) -> None:
    project.commit_files({"src/a.py": WORK})
    parts = "".join(f"def _f{n}(a):\n    b{n} = a + {n}\n    return b{n} * a{n}\n\n\n" for n in range(200))
    project.write("src/b.py", parts + WORK)
    assert copies(project) == []


def test_examples_may_repeat(project: Project) -> None:
    project.commit_files({"examples/a/main.py": WORK})
    project.write("examples/a/other.py", WORK)
    assert copies(project) == []
