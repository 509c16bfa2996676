"""Checks whether tests that were named by a model ran, were skipped, did not run, or do not exist."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
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
"""Languages whose runners report each test by name (pytest, Maven, Gradle: `workspace.test_runs.junit`)."""
_CASE = re.compile(r"\w(?:\([^()]*\))?\[(.*)\]$", re.DOTALL)
"""Of a parametrised test: `1-a` of `test_b[1-a]`."""
_TOKEN = re.compile(r"(?:[^\s,;\[\]()]|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\([^()]*\))+")
_TEST = re.compile(r"^[Tt]est(?:_|[A-Z])|_tests?$")
"""The name of a test function, in most languages that have them."""
_ALL = re.compile(r"\b(?:all|every|each|whole|entire)\b", re.IGNORECASE)
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
    """The outcomes of a named test, in the words of a rejection."""

    RAN = "ran"
    EXISTS = "is defined; its runner names no tests"
    SKIPPED = "was skipped"
    NOT_RUN = "did not run"
    ABSENT = "does not exist"


def fate(name: str, *, ran: Collection[str], skipped: Collection[str], files: Mapping[str, str]) -> Fate:
    """The outcome of the tests that `name` means: of several, the worst.

    Args:
        name: in any of the usual spellings: `tests/test_a.py::TestX::test_b[1]`, `TestX.test_b`, `test_b`,
            `tests/test_a.py`, the title of a test in JavaScript, `test_b and test_c`.
        ran: the tests reported as run, as `workspace.test_runs.junit` names them; empty where it names none.
        skipped: those that it reported as skipped.
        files: the texts of the test files, by path.
    """
    if has_run(name, ran):
        return Fate.RAN
    titled = [path for path, text in files.items() if _has_title(name, path, text)]
    unreported = [path for path in titled if not (ran or skipped) or not path.endswith(_REPORTED)]
    if unreported:
        return Fate.SKIPPED if all(_is_skipped(name, files[path]) for path in unreported) else Fate.EXISTS
    meant = _without_modules(_meant(name), [*ran, *skipped, *files])
    return max((_fate(each, ran, skipped, files) for each in meant), key=list(Fate).index, default=Fate.ABSENT)


def has_run(name: str, ran: Collection[str]) -> bool:
    """Whether every test that a name means is among those that ran."""
    if any(name.strip() == one.rpartition("::")[2] for one in ran):
        return True
    meant = _without_modules(_meant(name), ran)
    return bool(meant) and all(any(_means(each, one) for one in ran) for each in meant)


def names_a_file_only(name: str) -> bool:
    """Whether a name says no more than a file: any test in it would do."""
    meant = _meant(name)
    return bool(meant) and not any(each.chains for each in meant)


@dataclass(frozen=True)
class _Meant:
    """One test that is meant: its file, chains of identifiers (any of them will do), and the case in brackets.

    `titled`: words stand beside the file that may be the title of a test in it.
    """

    file: str = ""
    chains: tuple[tuple[str, ...], ...] = ()
    case: str = ""
    titled: bool = False


def _meant(name: str) -> tuple[_Meant, ...]:
    """The tests that a text means; each has to be there.

    These are its node ids (`tests/test_a.py::test_b`) and what looks like the name of a test; where there is neither,
    it is one test, which any identifier of the text may name.
    """
    tokens = [token.strip("`'\"*") for token in _TOKEN.findall(name)]
    read = [(token, each) for token in tokens if (each := _read(token)) is not None]
    files = list(dict.fromkeys(each.file for _, each in read if not each.chains))
    context = files[0] if len(files) == 1 else ""
    named = [(token, each) for token, each in read if each.chains]
    if len(named) > 1 or len(files) > 1:  # prose: `test_b in tests/test_a.py`, the title of a test
        named = [pair for pair in named if pair[1].file or len(pair[1].chains[0]) > 1 or _NO_WORD.search(pair[0])]
    within = [(token, replace(each, file=each.file or context)) for token, each in named]
    others = tuple(_Meant(file=each) for each in files if not context)
    if tests := tuple(each for token, each in within if "::" in token or _TEST.search(each.chains[0][-1])):
        return (*tests, *others)
    if within:
        chains = tuple(each.chains[0] for _, each in within)
        return (replace(within[0][1], chains=chains), *others)
    words = name
    for file in files:
        words = words.replace(file, "", 1)
    titled = re.search(r"\w{2}\s+\w", words) is not None and not _ALL.search(words)
    return tuple(_Meant(file=each, titled=titled) for each in files)


def _read(token: str) -> _Meant | None:
    """A file, a chain of identifiers, or both, as in `tests/test_a.py::TestX::test_b[1]`; None for neither."""
    if token.startswith(("[", "(")):
        return None
    case, plain = _CASE.search(token), _BRACKETS.sub("", token)
    file = next((each for each in _FILE.findall(plain) if each.rpartition(".")[2].lower() in _SUFFIXES), "")
    rest = plain.replace(file, " ", 1) if file else plain
    chain = tuple(part for part in re.split(r"[/.:#>\s]+", rest) if re.fullmatch(r"\w+", part))
    if not (file or chain):
        return None
    return _Meant(file.removeprefix("./"), (chain,) if chain else (), case[1] if case and chain else "")


def _without_modules(meant: tuple[_Meant, ...], places: Iterable[str]) -> tuple[_Meant, ...]:
    """Without those that only say where another one stands: `test_b of test_a`."""
    if len(meant) < 2:  # noqa: PLR2004 - another one
        return meant
    stems = {place.partition("::")[0].rpartition("/")[2].partition(".")[0] for place in places}
    left = tuple(each for each in meant if not (len(each.chains) == 1 and {*each.chains[0]} <= stems and not each.file))
    return left or meant


def _fate(meant: _Meant, ran: Collection[str], skipped: Collection[str], files: Mapping[str, str]) -> Fate:
    if any(_means(meant, each) for each in ran):
        return Fate.RAN
    if any(_means(meant, each) for each in skipped):
        return Fate.SKIPPED
    found = [path for path, text in files.items() if _defines(meant, path, text)]
    if not found:
        return Fate.ABSENT
    if any(not (ran or skipped) or not path.endswith(_REPORTED) for path in found):
        return Fate.EXISTS
    return Fate.NOT_RUN


def _means(meant: _Meant, reported: str) -> bool:
    """Whether it is this reported test: its file if one is named, its class or function, and its case if it has any."""
    parts = [part.strip() for part in _BRACKETS.sub("", reported).split("::")]
    own_file = parts[0] if "/" in parts[0] or parts[0].endswith(_REPORTED) else ""
    if meant.file and not (own_file and _ends(own_file, meant.file)):
        return False
    if not meant.chains:
        return bool(meant.file)
    case = _CASE.search(reported)
    if meant.case and case and not _same_case(meant.case, case[1]):
        return False
    inner = parts[1:] if own_file else [part for each in parts for part in each.split(".")]
    outer = re.split(r"[/.]", own_file.rpartition(".")[0]) if own_file else []
    return any(_fits(chain, outer, inner) for chain in meant.chains)


def _same_case(one: str, other: str) -> bool:
    """Pytest writes the ids of cases in ASCII."""
    return one == other or one.encode("ascii", "backslashreplace").decode() == other


def _defines(meant: _Meant, path: str, text: str) -> bool:
    """Whether a file is, or defines, what is meant."""
    if meant.file and not _ends(path, meant.file):
        return False
    if not meant.chains:
        return bool(meant.file) and not meant.titled
    return any(_declared(chain[-1], text) and all(part in path + text for part in chain) for chain in meant.chains)


def _has_title(name: str, path: str, text: str) -> bool:
    """Whether a file has a test of that title."""
    file = next((each for each in _FILE.findall(name) if each.rpartition(".")[2].lower() in _SUFFIXES), "")
    titles = (match["title"] for match in _TITLE.finditer(text))
    return any(_titled(name, title) and (not file or _ends(path, file) or file in title) for title in titles)


def _fits(chain: tuple[str, ...], outer: list[str], inner: list[str]) -> bool:
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
