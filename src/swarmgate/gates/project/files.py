"""Classifies a file by its path: its language and its kind (test, sample, generated, documentation)."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import PurePosixPath

from swarmgate.workspace.files.paths import encode

MAX_BYTES = 1_000_000
"""A file above this size is large: skipped, and told so, but by a gate that asks to read large files."""

READ_BYTES = 4_000_000
"""Of a large file so much is read, from its beginning, for a gate that asks to."""


class Trait(StrEnum):
    """What is special about a file, seen from its path, mode, size, content and the project's attributes.

    `nul`: text with a stray NUL byte, which makes git and most tools call it binary. `input`: what tests read, compare
    with or judge, which may be wrong on purpose. `unread`: its content is not here, so a gate that would look at it is
    an error.
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
    INPUT = "input"
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
CODE = frozenset(
    {
        "bash", "c", "cpp", "csharp", "dart", "elixir", "erlang", "go", "groovy", "haskell", "java", "javascript",
        "kotlin", "lua", "perl", "php", "powershell", "python", "r", "ruby", "rust", "scala", "svelte", "swift",
        "typescript", "vue", "zig",
    }
)  # fmt: skip
"""The languages of programs. All others hold data, markup, styles, prose, or steer a build."""

DATA = frozenset(
    {
        "cmake", "css", "dockerfile", "html", "ini", "json", "jsonc", "jsonl", "less", "makefile", "markdown", "rst",
        "scss", "terraform", "text", "toml", "xml", "yaml",
    }
)  # fmt: skip
"""The languages of data, markup, prose and builds: a test seldom sees them."""

_BY_SUFFIX = {suffix: language for language, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
_BY_NAME = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile",
    "cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby", "jenkinsfile": "groovy", "pipfile": "toml",
    ".bashrc": "bash", ".zshrc": "bash", ".profile": "bash", ".npmrc": "ini", ".pypirc": "ini", ".editorconfig": "ini",
    # Named .json by tradition, read with comments by their tools.
    "tsconfig.json": "jsonc", "jsconfig.json": "jsonc", "devcontainer.json": "jsonc", ".eslintrc.json": "jsonc",
    ".devcontainer.json": "jsonc", ".oxlintrc.json": "jsonc", "tslint.json": "jsonc", "api-extractor.json": "jsonc",
    ".babelrc": "jsonc", ".swcrc": "jsonc", "language-configuration.json": "jsonc",
}  # fmt: skip
_NEVER_MARKUP = {"typescript", "rust"}
"""Code that cannot begin with a declaration of XML, and whose suffix files of XML have as well."""

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
_STEERS = re.compile(
    r"^(?:setup\.(?:py|cfg)|pyproject\.toml|pipfile|requirements[\w.-]*\.(?:txt|in)|conftest\.py|tox\.ini|noxfile\.py|"
    r"package\.json|[tj]sconfig[\w.-]*\.json|go\.mod|cargo\.toml|meson\.build|cmakelists\.txt|makefile|justfile|"
    r"manifest\.in|\.(?:git|npm)ignore)$"
)
_VENDORED = {"node_modules", "vendor", "third_party", "thirdparty", "bower_components", "site-packages", "_vendor"}
_GENERATED_FOLDERS = {"dist"}
_GENERATED = re.compile(
    r"(\.min\.(js|css|mjs)|\.(js|css)\.map|_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.snap)$", re.IGNORECASE
)
_TEST_FOLDER = re.compile(
    r"^(?:tests?|specs?|__tests__|testdata|fixtures|testsuites?|e2e|unittests|.*[._-](?:tests?|specs?))$"
    r"|^.*[a-z.]Tests?$"
)
"""`tests`, `integration-tests`, `Core.Tests`; `testing` as well, but only at the root: in a package it is a product."""
_TEST_NAME = re.compile(r"^(test_.*|.*_tests?|.*[._]spec|.*\.test|conftest|.*Tests?)$")
_INPUT_FOLDERS = {"testdata", "test-data", "test_data", "fixtures", "__fixtures__", "__snapshots__"}
_INPUT_BELOW_TESTS = {"data", "golden", "goldens", "snapshots", "inputs"}
_INPUT_NAME = re.compile(r"\.(?:golden|snap|approved\.\w+)$")
_COLLECTED = re.compile(r"^(?:test_.*|.*_test|.*[._]spec|.*\.test|conftest|__init__|.*Tests?)$")
"""Code among the inputs that a test runner collects, or a package needs, is no input."""
_DOCS = {"markdown", "rst", "text"}


def language_of(path: str, content: bytes = b"") -> str:
    """The language of a file by its name, in lower case, else by its first line's interpreter; empty if unknown.

    What begins as XML is no code, whatever its suffix: Qt's translations are called `.ts`.
    """
    language = _by_name(path)
    if language in _NEVER_MARKUP and content.lstrip(b"\xef\xbb\xbf").startswith((b"<?xml", b"<!DOCTYPE")):
        return "xml"
    return language or _by_first_line(content)


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
    if name.endswith(".json") and (name.startswith(("tsconfig.", "tsconfig-")) or path.startswith(".vscode/")):
        return "jsonc"
    known = _BY_SUFFIX.get(name.rpartition(".")[2], "") if "." in name else ""
    # `.env.local` and `env.sample` hold settings; `env.py` is what its suffix says, as any other name is.
    return known or ("ini" if name.removeprefix(".").partition(".")[0] == "env" else "")


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
    named = parts.parts[:-1]
    folders = {part.lower() for part in named}
    name = parts.name.lower()
    found = {
        Trait.VENDORED: bool(folders & _VENDORED),
        Trait.GENERATED: bool(folders & _GENERATED_FOLDERS or _GENERATED.search(name)),
        Trait.LOCK: name in _LOCKS,
        Trait.TEST: named_as_test(parts.name) or named[:1] == ("testing",) or any(map(_is_test_folder, named)),
        Trait.INPUT: _is_input(folders, parts.stem, name),
        Trait.DOC: language_of(path) in _DOCS,
    }
    return frozenset(trait for trait, holds in found.items() if holds)


def _is_input(folders: set[str], stem: str, name: str) -> bool:
    if _INPUT_NAME.search(name):
        return True
    below = any(map(_is_test_folder, folders)) and folders & _INPUT_BELOW_TESTS
    return bool(folders & _INPUT_FOLDERS or below) and not _COLLECTED.match(stem)


def named_as_test(name: str) -> bool:
    """Whether a file's own name, without its folders, says that it is a test or steers tests."""
    return _TEST_NAME.match(PurePosixPath(name).stem) is not None


def steers(path: str) -> bool:
    """Whether a file declares, builds or configures a project: its manifests, build files and what git ignores."""
    return _STEERS.match(path.rpartition("/")[2].lower()) is not None


def is_test(path: str) -> bool:
    """Whether a file is a test, or lies among tests."""
    return Trait.TEST in traits_of(path)


def is_of_tests(path: str) -> bool:
    """Whether a file is a test, or what a package offers to who tests with it (`numpy/testing`): that is a product."""
    return is_test(path) or "testing" in path.lower().split("/")[:-1]


def _is_test_folder(name: str) -> bool:
    return bool(_TEST_FOLDER.match(name) or _TEST_FOLDER.match(name.lower()))


def suffixes_of(*languages: str) -> tuple[str, ...]:
    """How names of files in these languages end, with the dot."""
    return tuple(f".{suffix}" for language in languages for suffix in _LANGUAGES[language].split())


def _on_disk(path: str) -> str:
    # A name that is no UTF-8 is quoted in our records: its suffix would end in a quote.
    return os.fsdecode(encode(path))
