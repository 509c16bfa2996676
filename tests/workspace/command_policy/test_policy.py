"""Which command lines run: dangerous ones in every spelling do not, ordinary ones do."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.command_policy.records import HOME, ROOT, dangerous, ordinary

from swarmgate.workspace.command_policy.policy import LONGEST, judge, rendered
from swarmgate.workspace.command_policy.verdict import Judgement


def verdict(line: str, **settings: object) -> Judgement:
    return judge(line, **({"root": ROOT, "home": HOME} | settings))  # type: ignore[arg-type]  # each test knows its settings


def rules(line: str, **settings: object) -> set[str]:
    return {reason.rule for reason in verdict(line, **settings).reasons}


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "line"), dangerous())
def test_a_dangerous_command_is_refused_in_every_spelling(rule: str, line: str) -> None:
    found = verdict(line)
    assert not found.allowed
    assert rule in {reason.rule for reason in found.reasons}
    assert all(reason.why and reason.instead and reason.command for reason in found.reasons)


def test_the_lists_are_long_enough() -> None:
    assert len(dangerous()) >= 150
    assert len(ordinary()) >= 100


def test_at_most_one_ordinary_command_is_refused() -> None:
    refused = {line: verdict(line).reasons for line in ordinary() if not verdict(line).allowed}
    assert len(refused) <= 1, refused


_WORDS = st.text(alphabet="abcxyz./-_=,:@%+~0123456789 ", min_size=1, max_size=8)
_QUOTERS = (
    shlex.quote,
    lambda text: '"' + text + '"',
    lambda text: "'" + text + "'",
    lambda text: "$'" + "".join(f"\\x{ord(char):02x}" for char in text) + "'",
    lambda text: "".join("\\" + char for char in text),
    lambda text: "''".join(f"'{char}'" for char in text),
    lambda text: "'" + text[:1] + "'\\\n\"" + text[1:] + '"',
)
_PROGRAMS = (
    "rm -rf",
    "cp a",
    "git",
    "touch",
    "sh -c",
    "mv x",
    "chmod -R 755",
    "find",
    "ls",
    "tee",
    "kill",
    "env",
    "cd",
)


@given(program=st.sampled_from(_PROGRAMS), words=st.lists(_WORDS, min_size=1, max_size=3), data=st.data())
def test_quoting_a_word_differently_never_changes_the_verdict(
    program: str, words: list[str], data: st.DataObject
) -> None:
    plain = [*program.split(), *words]
    first = verdict(" ".join(shlex.quote(word) for word in plain))
    respelled = " ".join(data.draw(st.sampled_from(_QUOTERS))(word) for word in plain)
    second = verdict(respelled)
    for found in (first, second):  # the grammar cannot read `\\ ` at the end of a line, nor a bare `==`
        if any(each.rule == "unreadable" for each in found.reasons):
            assert not found.allowed
            return
    assert (second.allowed, [(each.rule, each.why) for each in second.reasons]) == (
        first.allowed,
        [(each.rule, each.why) for each in first.reasons],
    ), respelled


def test_a_word_that_begins_with_an_escaped_blank_is_that_word() -> None:
    spelled = [verdict(line) for line in ("rm -rf ' 0'", r"rm -rf \ \0", r"rm -rf \ 0", r"rm -rf \ '0'")]
    assert len({tuple((each.rule, each.why) for each in found.reasons) for found in spelled}) == 1
    assert "' 0'" in spelled[0].reasons[0].why or " 0 is" in spelled[0].reasons[0].why


@given(st.text(alphabet="rm -f/|&;()<>{}$`'\"\\\n=*#!xEOF", max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(verdict(text).allowed, bool)


@pytest.mark.parametrize(
    "line", ["(" * 4000 + "ls" + ")" * 4000, "{a,b}" * 30, "x" * (LONGEST + 1), "ls \ue000", "ls \0"]
)
def test_what_cannot_be_read_is_refused(line: str) -> None:
    assert rules(line) == {"unreadable"}


def test_commands_in_commands_without_end_are_refused() -> None:
    assert rules("nohup " * 20 + "ls") == {"unreadable"}
    assert rules('x=\'eval "$x"\'; eval "$x"') == {"unreadable"}


def test_a_refusal_names_the_place_of_the_error() -> None:
    assert "line 2: a missing `fi`" in verdict("ls\nif true; then ls;").reasons[0].why


@pytest.mark.parametrize(
    ("line", "scope"),
    [("rm -rf src/old", ("src/old",)), ("rm -rf src/old/part", ("src/old/",)), ("rm -rf notes.txt", ())],
)
def test_what_the_task_names_may_go(line: str, scope: tuple[str, ...]) -> None:
    assert verdict(line, scope=scope).allowed


def test_a_file_of_the_task_does_not_free_its_folder() -> None:
    assert rules("rm -rf src", scope=("src/app.py",)) == {"delete-source"}


def test_making_a_folder_that_may_be_there_frees_nothing() -> None:
    assert rules("mkdir -p src; rm -rf src") == {"delete-source"}


def test_an_allowed_pattern_lets_a_whole_line_through_and_nothing_into_git() -> None:
    allow = ("git push origin *", "rm -rf *")
    found = verdict("git push origin main", allow=allow)
    assert found.allowed
    assert found.allowed_by == "git push origin *"
    assert rules("git push", allow=allow) == {"git-remote"}
    assert rules("rm -rf .git", allow=allow) == {"guarded-write"}
    assert verdict("git status", allow=("*",)).allowed_by == ""
    assert rules("curl x | sh", allow=("curl [x] | s?",)) == {"unread-code"}


def test_further_writable_folders_may_be_written() -> None:
    assert rules("echo x > /var/cache/app/y") == {"write-outside"}
    assert verdict("echo x > /var/cache/app/y", writable=(Path("/var/cache/app"),)).allowed


def test_a_repository_in_a_temporary_folder_is_no_temporary_folder() -> None:
    root = Path("/tmp/work/repo")  # noqa: S108 - only a name
    assert rules("rm -rf ..", root=root) == {"delete-outside"}
    assert rules("rm -rf /tmp/work", root=root) == {"delete-outside"}
    assert rules("rm -rf src", root=root) == {"delete-source"}
    assert rules("echo x > /tmp/work/repo/.git/config", root=root) == {"guarded-write"}
    assert verdict("rm -rf /tmp/other", root=root).allowed


def test_git_in_a_temporary_folder_is_free_but_for_pushing() -> None:
    assert verdict("cd /tmp && git init t && cd t && git add -A && git commit -qm x").allowed
    assert rules("cd /tmp/t && git push") == {"git-remote"}
    assert rules("cd /tmp/t && git --git-dir=/home/dev/project/.git commit -m x") == {"git-history"}


def test_the_reading_shows_what_is_inside_of_what() -> None:
    found = verdict("env A=1 sh -c 'cd src && ls | xargs -n1 wc -l'")
    assert rendered(found.commands) == ["env:", "  sh -c:", "    cd src", "    ls", "    xargs:", "      wc -l ?"]


def test_judging_is_quick() -> None:
    line = 'cd src && for f in *.py; do python -m py_compile "$f" | tee -a ../log.txt; done; rm -rf build'
    verdict(line)
    took = []
    for _ in range(50):
        start = time.process_time()
        verdict(line)
        took.append(time.process_time() - start)
    assert sorted(took)[25] < 0.01  # benchmarks/command_policy.py measures the 2 ms that are promised
