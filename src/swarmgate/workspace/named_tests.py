"""Tests by the names that somebody gave them: whether such a test ran, was skipped, did not run, or is not there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import StrEnum

_BRACKETS = re.compile(r"\[.*\]|\(.*?\)", re.DOTALL)
_FILE = re.compile(r"(?:[\w.@+-]+/)*[\w.@+-]*\w\.[A-Za-z]{1,4}(?![\w])")
_SUFFIXES = frozenset(
    {
        "c", "cc", "cpp", "cs", "cts", "cxx", "dart", "ex", "exs", "go", "groovy", "java", "js", "jsx", "kt", "kts",
        "mjs", "mts", "php", "pl", "py", "rb", "rs", "scala", "sh", "swift", "ts", "tsx",
    }
)  # fmt: skip
_REPORTED = (".py", ".java", ".kt", ".kts", ".groovy", ".scala")
"""Languages whose runners report each test by name (pytest, Maven, Gradle: `workspace.junit`)."""
_NO_WORD = re.compile(r"_|\w[A-Z]|\d")
"""In an identifier, seldom in a word of prose."""
_TITLE = re.compile(
    r"\b(?P<call>x?(?:it|test|describe|context|specify|example|scenario|suite|feature|Run)\b[\w.]*)"
    r"\s*(?:\([^()\n]*\)\s*|`[^`]*`\s*)?\(?\s*(?P<mark>[\"'`])(?P<title>(?:\\.|(?!(?P=mark)).)+)(?P=mark)"
)
"""How JavaScript, TypeScript, Ruby, Elixir, Go (`t.Run`) and their like name a test: a call with its title."""
_KEYWORDS = "def|fn|fun|func|function|sub|class|struct|interface|object|mod|module|trait"
_NO_TYPES = "return|new|await|throw|assert|else|yield|case"
_DEFINITIONS = (
    rf"^[^\n#/*]*?\b(?:{_KEYWORDS})\s+(?:\([^()\n]*\)\s*)?NAME\b",
    rf"^[ \t]*(?:[\w<>\[\],.?@]+[ \t]+)*(?!{_NO_TYPES})[A-Za-z_][\w<>\[\]]*[ \t*&]+NAME[ \t]*\([^;\n]*$",
    r"\bTEST\w*\(\s*(?:\w+\s*,\s*)?NAME\s*\)",
    r"^[ \t]*NAME[ \t]*\(\)[ \t]*\{",
    r"\b(?:const|let|var)\s+NAME\s*=",
)
"""How the usual languages define something called NAME: keyword, typed method, C++ macro, shell function, variable."""
_BLANKS = re.compile(r"%\w|\$\{[^}]*\}|\$\w+|#\{[^}]*\}")
"""What a title leaves open, for each row of a table of cases."""


class Fate(StrEnum):
    """What became of a named test, in the words of a rejection."""

    RAN = "ran"
    EXISTS = "is defined; its runner names no tests"
    SKIPPED = "was skipped"
    NOT_RUN = "did not run"
    ABSENT = "does not exist"


def fate(name: str, *, ran: Collection[str], skipped: Collection[str], files: Mapping[str, str]) -> Fate:
    """What became of the test that `name` means.

    Args:
        name: in any of the usual spellings: `tests/test_a.py::TestX::test_b[1]`, `TestX.test_b`, `test_b`,
            `tests/test_a.py`, the title of a test in JavaScript.
        ran: the tests that a runner reported as run, as `workspace.junit` names them; empty where it names none.
        skipped: those that it reported as skipped.
        files: the texts of the test files, by path.
    """
    if any(means(name, each) for each in ran):
        return Fate.RAN
    if any(means(name, each) for each in skipped):
        return Fate.SKIPPED
    found = [path for path, text in files.items() if defined(name, path, text)]
    if not found:
        return Fate.ABSENT
    unreported = [path for path in found if not (ran or skipped) or not path.endswith(_REPORTED)]
    if not unreported:
        return Fate.NOT_RUN
    skips = all(_is_skipped(name, files[path]) for path in unreported)
    return Fate.SKIPPED if skips else Fate.EXISTS


def means(name: str, reported: str) -> bool:
    """Whether a name means this reported test: its file if it names one, and its class or function if it names any."""
    file, words = _split(name)
    parts = [part.strip() for part in _BRACKETS.sub("", reported).split("::")]
    own_file = parts[0] if "/" in parts[0] or parts[0].endswith(_REPORTED) else ""
    if file and not (own_file and _ends(own_file, file)):
        return False
    if not words:
        return bool(file)
    inner = parts[1:] if own_file else [part for each in parts for part in each.split(".")]
    outer = re.split(r"[/.]", own_file.rpartition(".")[0]) if own_file else []
    return any(_fits(chain, outer, inner) for chain in words)


def defined(name: str, path: str, text: str) -> bool:
    """Whether a file is, or defines, what a name means."""
    file, words = _split(name)
    titles = (match["title"] for match in _TITLE.finditer(text))
    if any(_titled(name, title) and (not file or _ends(path, file) or file in title) for title in titles):
        return True
    if file and not _ends(path, file):
        return False
    if not words:  # the file alone, not a title that it does not have
        return bool(file) and not re.search(r"\w{2}\s+\w", name.replace(file, "", 1))
    return any(_declared(chain[-1], text) and all(part in path + text for part in chain) for chain in words)


def _split(name: str) -> tuple[str, list[list[str]]]:
    """The file that a name holds, and the chains of identifiers beside it: `TestX.test_b` is one of two."""
    plain = _BRACKETS.sub("", name.strip().strip("`'\""))
    file = next((each for each in _FILE.findall(plain) if each.rpartition(".")[2].lower() in _SUFFIXES), "")
    rest = plain.replace(file, " ", 1) if file else plain
    tokens = re.split(r"[\s,;]+", rest)
    chains = [[part for part in re.split(r"[/.:#>]+", token) if re.fullmatch(r"\w+", part)] for token in tokens]
    chains = [chain for chain in chains if chain]
    if len(chains) > 1:  # prose: `test_b in tests/test_a.py`, the title of a test
        chains = [chain for chain in chains if len(chain) > 1 or _NO_WORD.search(chain[0])]
    return file.removeprefix("./"), chains


def _fits(chain: list[str], outer: list[str], inner: list[str]) -> bool:
    """Whether identifiers stand, in order, in a test's place, and the last of them is its class or its own name."""
    parts = iter([*outer, *inner])
    return chain[-1] in inner and all(any(part == each for each in parts) for part in chain)


def _ends(path: str, file: str) -> bool:
    return path == file or path.endswith(f"/{file}")


def _declared(name: str, text: str) -> bool:
    """Whether a text defines a function, method, class, module or test macro of that name."""
    return any(re.search(form.replace("NAME", re.escape(name)), text, re.MULTILINE) for form in _DEFINITIONS)


def _titled(name: str, title: str) -> bool:
    """Whether a name ends with a title, which may leave words open."""
    pattern = r".+?".join(re.escape(_plain(piece)) for piece in _BLANKS.split(title))
    return re.search(rf"(?<!\w){pattern}\W*(?:in|at|from)?\W*$", _plain(_FILE.sub("", name))) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_skipped(name: str, text: str) -> bool:
    """Whether every test with that title is marked as left out."""
    calls = [match["call"] for match in _TITLE.finditer(text) if _titled(name, match["title"])]
    return bool(calls) and all(re.match(r"x|.*\.(?:skip|todo)\b", call) for call in calls)
