"""Tests which findings are new and which are old, also by property: no change, no new finding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.review.finding import Finding
from swarmgate.gates.source import comparison
from swarmgate.gates.source.file import Revision, SourceFile


def scan(content: bytes) -> list[Finding]:
    lines = content.decode().split("\n")
    return [Finding(rule="bad", path="a", line=n, message="bad") for n, line in enumerate(lines, 1) if "bad" in line]


def compare(now: str, was: str, added: frozenset[int] = frozenset()) -> list[Finding]:
    source = SourceFile.of("a", "", content=now.encode(), old=Revision("a", content=was.encode()), added_lines=added)
    return comparison.compare(source, scan(now.encode()), scan(was.encode()))


lines = st.lists(st.sampled_from(["bad one", "bad two", "good", ""]), max_size=12)


@given(lines, st.randoms())
def test_moved_and_indented_lines_are_old(text: list[str], random: object) -> None:
    moved = [f"    {line}" for line in text]
    random.shuffle(moved)  # type: ignore[attr-defined] # hypothesis' random
    assert not [finding for finding in compare("\n".join(moved), "\n".join(text)) if finding.new]


@given(lines, lines)
def test_new_ones_are_the_surplus(now: list[str], was: list[str]) -> None:
    found = compare("\n".join(now), "\n".join(was))
    for kind in ("bad one", "bad two"):
        fresh = [finding for finding in found if finding.new and now[finding.line - 1] == kind]
        assert len(fresh) == max(0, now.count(kind) - was.count(kind))
    assert len({finding.fingerprint for finding in found}) == len(found)


def test_of_equal_lines_the_added_one_is_new() -> None:
    found = compare("bad\nx\nbad", "x\nbad", added=frozenset({1}))
    assert [(finding.line, finding.new) for finding in found] == [(1, True), (3, False)]


def test_fingerprints_do_not_depend_on_place() -> None:
    first = compare("bad", "")[0].fingerprint
    assert compare("\n\n  bad", "")[0].fingerprint == first
