"""Which files of a change a gate looks at, by language, traits and globs; and why others are left out."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import field_validator

from swarmgate.domain.base import Frozen
from swarmgate.workspace.globs import matches
from swarmgate.workspace.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 1_000_000
"""A file above this size is large: skipped, and told so, but by a gate that asks to read large files."""

READ_BYTES = 4_000_000
"""Of a large file so much is read, from its beginning, for a gate that asks to."""


class Trait(StrEnum):
    """What is special about a file, seen from its path, mode, size, content and the project's attributes.

    `nul`: text with a stray NUL byte, which makes git and most tools call it binary. `unread`: its content is not here,
    so a gate that would look at it is an error.
    """

    BINARY = "binary"
    NUL = "nul"
    LARGE = "large"
    VENDORED = "vendored"
    GENERATED = "generated"
    MINIFIED = "minified"
    LOCK = "lock"
    LINK = "link"
    SUBMODULE = "submodule"
    TEST = "test"
    DOC = "doc"
    UNREAD = "unread"


class Trust(StrEnum):
    """What a gate believes of a file that the change wrote, where it is said to be vendored, generated or minified.

    `content`: only what the base revision holds byte for byte. `declared`: also what the base's `.gitattributes` say,
    and what was so before the change. `name`: also the name of a new file.
    """

    CONTENT = "content"
    DECLARED = "declared"
    NAME = "name"


UNREADABLE = frozenset({Trait.BINARY, Trait.NUL, Trait.LARGE, Trait.LINK, Trait.SUBMODULE, Trait.UNREAD})
"""Files that a gate reads only if its definition asks for it; links and submodules are never followed."""

SAID = frozenset({Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED})
"""What a file, or somebody about it, says of its origin: that nobody wrote it here."""

OPTIONAL = frozenset({Trait.NUL, Trait.LARGE})
"""What a gate may ask to read nevertheless."""

_LANGUAGES = {
    "bash": "sh bash zsh", "c": "c h", "cpp": "cc cpp cxx hh hpp hxx", "csharp": "cs", "css": "css", "dart": "dart",
    "elixir": "ex exs", "erlang": "erl hrl", "go": "go", "groovy": "groovy gradle", "haskell": "hs",
    "html": "html htm", "ini": "ini cfg conf properties env", "java": "java", "javascript": "js jsx mjs cjs",
    "json": "json ipynb geojson webmanifest", "jsonc": "jsonc json5", "jsonl": "jsonl ndjson", "kotlin": "kt kts",
    "less": "less", "lua": "lua", "markdown": "md markdown mdx", "perl": "pl pm", "php": "php",
    "powershell": "ps1 psm1", "protobuf": "proto", "python": "py pyi pyw", "r": "r", "rst": "rst",
    "ruby": "rb rake gemspec", "rust": "rs", "scala": "scala sc", "scss": "scss", "sql": "sql", "svelte": "svelte",
    "swift": "swift", "terraform": "tf tfvars hcl", "text": "txt", "toml": "toml", "typescript": "ts tsx mts cts",
    "vue": "vue", "xml": "xml svg xsd xsl", "yaml": "yaml yml", "zig": "zig",
}  # fmt: skip
_BY_SUFFIX = {suffix: language for language, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
_BY_NAME = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile",
    "cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby", "jenkinsfile": "groovy", "pipfile": "toml",
    ".bashrc": "bash", ".zshrc": "bash", ".profile": "bash", ".npmrc": "ini", ".pypirc": "ini", ".editorconfig": "ini",
    # Named .json by tradition, read with comments by their tools.
    "tsconfig.json": "jsonc", "jsconfig.json": "jsonc", "devcontainer.json": "jsonc", ".eslintrc.json": "jsonc",
    ".babelrc": "jsonc", ".swcrc": "jsonc", "language-configuration.json": "jsonc",
}  # fmt: skip
_NOT_RECIPES = {
    "md", "markdown", "rst", "txt", "json", "yaml", "yml", "toml", "dockerignore", "containerignore", "in", "j2",
    "jinja", "jinja2", "tmpl", "tpl", "template", "erb", "mustache", "lock", "html", "xml",
}  # fmt: skip
"""What `Dockerfile.<suffix>` is when it is no Dockerfile: prose, data, and templates."""

_INTERPRETER = re.compile(
    rb"\A(?:\xef\xbb\xbf)?#![ \t]*(?:\S*/)?"
    rb"(?:env(?:[ \t]+(?:-u[ \t]+\S+|-\S*|\w+=\S*))*[ \t]+(?:\S*/)?)?([A-Za-z]+)[\d.]*[A-Za-z]?(?=\s|\Z)"
)
_INTERPRETERS = {
    "python": "python", "pypy": "python", "node": "javascript", "nodejs": "javascript", "bun": "javascript",
    "deno": "typescript", "tsx": "typescript", "sh": "bash", "bash": "bash", "dash": "bash", "ksh": "bash",
    "ash": "bash", "zsh": "bash", "uv": "python", "ruby": "ruby", "jruby": "ruby", "perl": "perl", "php": "php",
    "lua": "lua",
}  # fmt: skip
"""What the first line of a script calls, and the language of that."""

_LOCKS = {
    "brewfile.lock.json", "bun.lock", "bun.lockb", "cargo.lock", "cartfile.resolved", "composer.lock", "flake.lock",
    "gemfile.lock", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json",
    "package-lock.json", "package.resolved", "packages.lock.json", "pdm.lock", "pipfile.lock", "pnpm-lock.yaml",
    "podfile.lock", "poetry.lock", "pubspec.lock", "pylock.toml", "uv.lock", "yarn.lock",
}  # fmt: skip
_VENDORED = {"node_modules", "vendor", "third_party", "thirdparty", "bower_components", "site-packages", "_vendor"}
_GENERATED_FOLDERS = {"dist"}
_GENERATED = re.compile(
    r"(\.min\.(js|css|mjs)|\.(js|css)\.map|_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.snap)$", re.IGNORECASE
)
_TEST_FOLDERS = {"test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures"}
_TEST_NAME = re.compile(r"^(test_.*|.*_tests?|.*[._]spec|.*\.test|conftest|.*Tests?)$")
_DOCS = {"markdown", "rst", "text"}


@dataclass(frozen=True, slots=True)
class Source:
    """One present file of a change. `content` is empty where no gate reads it, `base_path` for an added file.

    Of `traits`, `unproven` are those in `SAID` of a content that the base revision does not have; of these, `claimed`
    are those that nothing but the name of a new file tells.
    """

    path: str
    language: str
    traits: frozenset[Trait] = frozenset()
    content: bytes = b""
    base_path: str = ""
    added_lines: frozenset[int] = frozenset()
    size: int = 0
    unproven: frozenset[Trait] = frozenset()
    claimed: frozenset[Trait] = frozenset()

    def trusted(self, trust: Trust) -> Source:
        """The file with no more of what is said of it than that is believed."""
        doubted = {Trust.CONTENT: self.unproven, Trust.DECLARED: self.claimed, Trust.NAME: frozenset[Trait]()}[trust]
        return replace(self, traits=self.traits - doubted) if doubted else self

    @property
    def cut(self) -> bool:
        """Whether `content` is only the beginning of the file."""
        return len(self.content) < self.size and Trait.LARGE in self.traits

    @property
    def added(self) -> bool:
        """Whether the base revision has no such file."""
        return not self.base_path


@dataclass(frozen=True, slots=True)
class Selection:
    """The files a gate looks at, and how many of those that its globs and languages ask for were skipped, by trait.

    `unread` are those that it would look at and whose content is not here.
    """

    sources: tuple[Source, ...]
    skipped: Counter[str]
    unread: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """`3 skipped: 2 binary, 1 large`, or empty; and how many were not read to their end."""
        parts = ", ".join(f"{count} {trait}" for trait, count in sorted(self.skipped.items()))
        cut = sum(source.cut for source in self.sources)
        told = [f"{self.skipped.total()} skipped: {parts}"] if parts else []
        told += [f"{cut} not read beyond {READ_BYTES / 1e6:g} MB"] if cut else []
        return "; ".join(told)


class FileFilter(Frozen):
    """What a gate asks for: files that match `include`, not `exclude`, are of a language, lack each `skip` trait.

    Globs: see `workspace.globs`. No `include` and no `languages` means every file. Links, submodules and binary files
    are never read; large ones (their beginning) and text with NUL bytes where `read` says so. `trust`: what is
    believed of a file that the change wrote.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    skip: tuple[Trait, ...] = (Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED, Trait.LOCK)
    read: tuple[Trait, ...] = ()
    trust: Trust = Trust.NAME

    @field_validator("read")
    @classmethod
    def _readable(cls, value: tuple[Trait, ...]) -> tuple[Trait, ...]:
        if not set(value) <= OPTIONAL:
            raise ValueError(f"a gate can ask to read {' and '.join(sorted(OPTIONAL))} files, no others")
        return value

    def wants(self, path: str, language: str) -> bool:
        """Whether the globs and languages ask for this file, whatever its traits."""
        path = _on_disk(path)
        included = not self.include or any(matches(path, pattern) for pattern in self.include)
        excluded = any(matches(path, pattern) for pattern in self.exclude)
        return included and not excluded and (not self.languages or language in self.languages)

    def select(self, sources: Iterable[Source]) -> Selection:
        """Split the files of a change into those looked at and the count of those skipped for a trait."""
        barred, taken, skipped = (UNREADABLE - set(self.read)) | frozenset(self.skip), [], Counter[str]()
        unread = []
        for source in sources:
            if not self.wants(source.path, source.language):
                continue
            source = source.trusted(self.trust)  # noqa: PLW2901 - the same file, with less said of it
            reasons = [trait for trait in Trait if trait in source.traits & barred]
            if not reasons:
                taken.append(source)
            elif reasons == [Trait.UNREAD]:
                unread.append(source.path)
            else:
                skipped[reasons[0].value] += 1
        return Selection(tuple(taken), skipped, tuple(unread))

    def narrower_than(self, base: FileFilter) -> tuple[str, ...]:
        """What this filter leaves out and `base` does not, as far as the keys tell; empty when nothing."""
        limits = {
            "include": bool(self.include) and not (base.include and set(base.include) <= set(self.include)),
            "exclude": not set(self.exclude) <= set(base.exclude),
            "languages": bool(self.languages) and not (base.languages and set(base.languages) <= set(self.languages)),
            "skip": not set(self.skip) <= set(base.skip),
            "read": not set(base.read) <= set(self.read),
            "trust": list(Trust).index(self.trust) > list(Trust).index(base.trust),
        }
        return tuple(key for key, narrower in limits.items() if narrower)


def language_of(path: str, content: bytes = b"") -> str:
    """The language of a file by its name, in lower case, else by its first line's interpreter; empty if unknown."""
    return _by_name(path) or _by_first_line(content)


def _by_first_line(content: bytes) -> str:
    found = _INTERPRETER.match(content)
    return _INTERPRETERS.get(found[1].decode(), "") if found else ""


def _by_name(path: str) -> str:
    plain = _on_disk(path).rsplit("/", 1)[-1]
    name = plain.lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if _is_recipe(plain):
        return "dockerfile"
    if name == ".env" or name.startswith((".env.", "env.")):
        return "ini"
    if name.startswith("tsconfig.") and name.endswith(".json"):
        return "jsonc"
    if path.startswith(".vscode/") and name.endswith(".json"):
        return "jsonc"
    return _BY_SUFFIX.get(name.rpartition(".")[2], "") if "." in name else ""


def _is_recipe(name: str) -> bool:
    """`Dockerfile.prod`, `api.dockerfile`; but no template, and `dockerfile.py` is Python."""
    if name.lower().endswith((".dockerfile", ".containerfile")):
        return True
    head, _, kind = name.partition(".")
    suffix = kind.rpartition(".")[2].lower()
    usual = head in {"Dockerfile", "Containerfile"}
    if usual:
        return bool(kind) and suffix not in _NOT_RECIPES
    return head.lower() in {"dockerfile", "containerfile"} and suffix not in {"", *_NOT_RECIPES, *_BY_SUFFIX}


def traits_of(path: str) -> frozenset[Trait]:
    """What the path alone tells of a file."""
    parts = PurePosixPath(_on_disk(path))
    folders = {part.lower() for part in parts.parts[:-1]}
    name = parts.name.lower()
    found = {
        Trait.VENDORED: bool(folders & _VENDORED),
        Trait.GENERATED: bool(folders & _GENERATED_FOLDERS or _GENERATED.search(name)),
        Trait.LOCK: name in _LOCKS,
        Trait.TEST: bool(folders & _TEST_FOLDERS or _TEST_NAME.match(parts.stem)),
        Trait.DOC: language_of(path) in _DOCS,
    }
    return frozenset(trait for trait, holds in found.items() if holds)


def _on_disk(path: str) -> str:
    # A name that is no UTF-8 is quoted in our records: its suffix would end in a quote.
    return os.fsdecode(encode(path))
