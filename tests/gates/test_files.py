"""Tests the languages, traits and selection of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source.file import SourceFile
from swarmgate.gates.source.selection import FileFilter


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"), ("x.tsx", "typescript"), ("Dockerfile", "dockerfile"), (".env", "ini"),
        (".env.local", "ini"),
        ("tsconfig.json", "jsonc"), ("tsconfig.app.json", "jsonc"), (".vscode/settings.json", "jsonc"),
        ("a.json", "json"),
        ("LICENSE", ""), ("a.unknown", ""), ("A.YML", "yaml"),
    ],
)  # fmt: skip
def test_language(path: str, language: str) -> None:
    assert language_of(path) == language


NAMES = [line.split("\t") for line in (Path(__file__).parent / "samples/file_names.tsv").read_text().splitlines()]
"""File names with a meaning of their own, by which GitHub's linguist tells languages, and what each is to us."""

BY_FULL_NAME = {
    "tsconfig.json", "jsconfig.json", "tslint.json", "api-extractor.json", "devcontainer.json",
    "language-configuration.json", "cmakelists.txt", "eslintrc.json", "oxlintrc.json",
}  # fmt: skip
SUFFIXES = {
    "py": "python", "pyi": "python", "go": "go", "ts": "typescript", "tsx": "typescript", "js": "javascript",
    "mjs": "javascript", "java": "java", "rs": "rust", "c": "c", "cc": "cpp", "rb": "ruby", "php": "php",
    "sh": "bash", "json": "json", "yaml": "yaml", "toml": "toml", "md": "markdown", "txt": "text", "html": "html",
}  # fmt: skip


def test_the_names_that_mean_something_by_themselves() -> None:
    assert {name: language_of(name) for name, _ in NAMES} == dict(NAMES)


def test_a_known_suffix_decides_whatever_stands_before_it() -> None:
    stems = {name.lower().lstrip(".").partition(".")[0] for name, _ in NAMES} | {"env", "main", "index", "config"}
    assert len(stems) > 300
    wrong = {
        f"{dot}{stem}.{suffix}": found
        for stem in stems
        for dot in ("", ".")
        for suffix, language in SUFFIXES.items()
        if (found := language_of(f"{dot}{stem}.{suffix}")) != language and f"{stem}.{suffix}" not in BY_FULL_NAME
    }
    assert wrong == {}


@pytest.mark.parametrize("name", [".env", ".env.local", ".env.production.local", "env.sample", "env.dist", "prod.env"])
def test_files_of_variables_are_settings(name: str) -> None:
    assert language_of(f"deploy/{name}") == "ini"


def test_what_begins_as_xml_is_no_code() -> None:
    translations = b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1"></TS>\n'
    assert language_of("i18n/app_de.ts", translations) == "xml"
    assert language_of("i18n/app_de.ts", b"\xef\xbb\xbf<!DOCTYPE TS>") == "xml"
    assert language_of("src/app.ts", b"const a = '<?xml'\n") == "typescript"
    assert language_of("page.php", b"<?xml version='1.0'?>") == "php"


@pytest.mark.parametrize(
    ("path", "traits"),
    [
        ("web/node_modules/x/index.js", {Trait.VENDORED}), ("vendor/a.go", {Trait.VENDORED}),
        ("dist/app.js", {Trait.GENERATED}),
        ("static/app.min.js", {Trait.GENERATED}), ("api_pb2.py", {Trait.GENERATED}), ("uv.lock", {Trait.LOCK}),
        ("package-lock.json", {Trait.LOCK}), ("tests/test_a.py", {Trait.TEST}), ("src/a_test.go", {Trait.TEST}),
        ("a.spec.ts", {Trait.TEST}), ("src/latest.py", set()), ("src/contest.py", set()), ("README.md", {Trait.DOC}),
    ],
)  # fmt: skip
def test_traits(path: str, traits: set[Trait]) -> None:
    assert traits_of(path) == traits


def test_selection_counts_what_it_leaves_out() -> None:
    paths = ["a.py", "b.py", "vendor/c.py", "uv.lock", "d.js"]
    sources = [SourceFile.of(path, language_of(path), traits_of(path)) for path in paths]
    sources += [
        SourceFile.of("e.py", "python", frozenset({Trait.LARGE})),
        SourceFile.of("l.py", "python", frozenset({Trait.LINK})),
    ]
    selection = FileFilter(languages=("python",), exclude=("b.py",)).select(sources)
    assert [source.path for source in selection.sources] == ["a.py"]
    assert selection.note == "3 skipped: 1 large, 1 link, 1 vendored"


def test_narrower() -> None:
    base = FileFilter(languages=("python",), exclude=("x",))
    assert FileFilter(languages=("python", "go"), exclude=()).narrower_than(base) == ()
    assert FileFilter(languages=("go",), exclude=("x",)).narrower_than(base) == ("languages",)
    assert FileFilter().narrower_than(base) == ()


def test_a_gate_may_ask_for_large_files_and_text_with_nuls_and_for_no_others() -> None:
    large = SourceFile.of("a.txt", "text", frozenset({Trait.LARGE}), content=b"x", size=5_000_000)
    nul = SourceFile.of("b.txt", "text", frozenset({Trait.NUL}), content=b"x\0")
    binary = SourceFile.of("c.txt", "text", frozenset({Trait.BINARY}))
    asking = FileFilter(skip=(), read=(Trait.LARGE, Trait.NUL))
    selection = asking.select([large, nul, binary])
    assert [source.path for source in selection.sources] == ["a.txt", "b.txt"]
    assert selection.note == "1 skipped: 1 binary; 1 not read beyond 4 MB"
    assert FileFilter(skip=()).select([large, nul]).note == "2 skipped: 1 large, 1 nul"
    assert FileFilter(skip=()).narrower_than(asking) == ("read",)
    with pytest.raises(ValueError, match="no others"):
        FileFilter.model_validate({"read": ["binary"]})
