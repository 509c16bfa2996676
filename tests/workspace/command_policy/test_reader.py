"""How a line is read: words, wrappers, folders, and what reaches a shell."""

from __future__ import annotations

import pytest
from tests.workspace.command_policy.records import HOME, ROOT

from swarmgate.workspace.command_policy import heredocs
from swarmgate.workspace.command_policy.model import Unreadable
from swarmgate.workspace.command_policy.reader import Reader


def read(line: str) -> list[str]:
    return [str(simple) for simple in Reader(str(ROOT), str(HOME)).line(line)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a 'b c' \"d\"e\\ f", "a 'b c' 'de f'"),
        ("a $'\\x62\\tc'", "a 'b\tc'"),
        ("a {b,c}d {1..3}", "a bd cd 1 2 3"),
        ('a ~/x $HOME/y "$HOME"', "a /home/dev/x /home/dev/y /home/dev"),
        ("x='b c'; a $x \"$x\"", "a b c 'b c'"),
        ("a $(echo b c) \"$(printf '%s-' d e)\"", "a b c d-e-"),
        ("a ${x:-b} ${HOME:+c} ${#x}", "a b c 0"),
        ("x=abcdef; a ${x:1:2} ${x^^}", "a bc ABCDEF"),
        ("set -- b 'c d'; a \"$@\" $2 $#", "a b 'c d' c d 0"),
        ("a $unknown b", "a ? b"),
        ("x=(b c); a ${x[@]} ${x[1]}", "a b c b c"),
        ("a b\\\nc", "a bc"),
        ("a '' b", "a '' b"),
        ("a *.py", "a *.py"),
        ("a > b 2>&1 c", "a c > b"),
    ],
)
def test_words_are_what_the_program_gets(line: str, words: str) -> None:
    assert read(line)[-1] == words


@pytest.mark.parametrize(
    "line",
    [
        "env -i a b",
        "sh -c 'a b'",
        "sh -xec 'a b'",
        'bash -lc "a b"',
        "nohup nice -n 3 timeout -k 1 5 a b",
        "eval a b",
        "echo b | xargs a",
        "find -name x -quit -exec a b ';'",
        "sh <<< 'a b'",
        "printf 'a b' | sh",
        "sh -c '\"$@\"' x a b",
        "f() { a $1; }; f b",
        "python -c \"import os; os.system('a b')\"",
        'python -c \'import subprocess as s; s.run(["a", "b"])\'',
        "perl -e 'system(\"a b\")'",
        "echo YSBi | base64 -d | sh",
        "cat <<'X' | sh\na b\nX",
        "trap 'a b' EXIT",
        "(a b)",
        "{ a b; }",
        "if x; then a b; fi",
        "while x; do a b; done",
        "for i in b; do a $i; done",
        "case x in y) a b;; esac",
        "! a b",
        "a b &",
        "x=$(a b)",
        'echo "$(a b)"',
        "cat <(a b)",
        "cat <<X\n$(a b)\nX",
        "[[ -n $(a b) ]]",
        "git -c alias.x='!a b' x",
        "uv run a b",
        "npx -c 'a b'",
        "parallel a ::: b",
        "echo 'a b' > x; sh x",
        "printf '#!/bin/sh\\na b' > x; ./x",
    ],
)
def test_a_command_is_found_in_whatever_runs_it(line: str) -> None:
    assert "a b" in read(line)


def test_folders_are_followed() -> None:
    found = Reader(str(ROOT), str(HOME)).line("cd src && (cd ../docs; a); b; cd -; c; cd $x; d")
    assert {str(each): each.cwd for each in found if str(each) in "abcd"} == {
        "a": f"{ROOT}/docs", "b": f"{ROOT}/src", "c": str(ROOT), "d": "",
    }  # fmt: skip


def test_here_documents_are_read_wherever_they_stand() -> None:
    line = "cat <<'A' - <<B 2>&1 | tee x && c\none $x\nA\ntwo\nB\nd"
    assert read(line) == ["cat -", "tee x", "c", "d"]
    assert heredocs.lift("a <<-'E' b\n\tx\n\tE\nc")[1] == ("x\n",)
    assert heredocs.lift("a $((1<<2)) '<<X' \"<<Y\" # <<Z\nb") == ("a $((1<<2)) '<<X' \"<<Y\" # <<Z\nb", ())


@pytest.mark.parametrize("line", ["a 'b", 'a "b', "a $(b", "a '" + "b" * 50])
def test_reading_ends_for_what_is_not_closed(line: str) -> None:
    with pytest.raises(Unreadable, match="line"):
        read(line)


def test_a_variable_that_may_be_set_twice_is_both() -> None:
    assert read("x=a; if y; then x=b; fi; c $x")[-1] == "c a b"
