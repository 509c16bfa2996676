"""Recognises sample code and generated files, whose unresolved imports are not reported."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import is_of_tests, named_as_test

if TYPE_CHECKING:
    from swarmgate.gates.project.view import View

_DATA = re.compile(
    r"^(?:.*[-_.])?(?:fixtures?|testdata|test[-_]?data|test[-_]?files?|samples?|snapshots?|cassettes|corpus|golden|"
    r"inputs?|outputs?|expected|mock[-_]?data|resources?|assets|templates?|boilerplates?|stubs|typings|skeletons?)$"
)
_ASIDE = re.compile(
    r"^(?:docs?|doc_src|docs_src|website|examples?|demos?|tutorials?|benchmarks?|bench|playgrounds?|"
    r"notebooks?|recipes|\.github|\.circleci|\.semgrep|compat|type[-_]?tests?|smoke|sandbox(?:es)?|typing|dtslint|perf)$"
)
_BUILD_FILES = re.compile(
    r"^(?:setup\.(?:py|cfg)|pyproject\.toml|meson\.build|cmakelists\.txt|cargo\.toml|\.gitignore|build\.(?:py|rs)|"
    r"makefile|package\.json|\.npmignore|manifest\.in|justfile|hatch_build\.py|tox\.ini|noxfile\.py|"
    r"turbo\.json|project\.json|(?:rollup|tsup|build|vite|webpack)\.config\.\w+|.*\.(?:bzl|gn|gyp))$"
)
_BUILT = re.compile(
    r"^(?:dist.*|build|out|output|lib|libs|es|esm|cjs|umd|generated|__generated__|gen|\.\w[\w-]*|target|coverage|pkg|bundles?|compiled)$"
)


_ANY = re.compile(r"(?:^|/)\*+(?:\.(?:d\.)?[cm]?[jt]sx?(?:\.map)?|\.py[cod]?|\.py\[\w+\])?$|^\*")


class Kind(Enum):
    """The kind of a file: product code, code beside it, or data."""

    CODE = "code"
    ASIDE = "aside"
    """Code beside the product (examples, docs, scripts, helpers of tests): findings in it inform."""
    DATA = "data"
    """Input of tests and templates: its imports are often wrong on purpose."""


def kind_of(path: str) -> Kind:
    """The kind of a file, by its path."""
    folders = [part.lower() for part in path.split("/")[:-1]]
    name = posixpath.basename(path)
    in_tests = is_of_tests(path)
    if "{{" in path or "${" in path:  # a template's folder
        return Kind.DATA
    named = named_as_test(name) or "__tests__" in folders
    if any(_DATA.match(folder) for folder in folders) and not named:
        return Kind.DATA
    if in_tests and not named:
        return Kind.ASIDE
    return Kind.ASIDE if any(_ASIDE.match(folder) or _DATA.match(folder) for folder in folders) else Kind.CODE


class Builds:
    """The modules that build files and git name: a build may generate them."""

    def __init__(self, view: View) -> None:
        self._view = view

    @cached_property
    def _texts(self) -> str:
        paths = [path for path in self._view.files if _BUILD_FILES.match(posixpath.basename(path).lower())]
        self._view.fetch(paths)
        return "\n".join(self._view.text(path) for path in paths)

    @cached_property
    def _ignored(self) -> tuple[str, ...]:
        paths = [path for path in self._view.files if posixpath.basename(path) == ".gitignore"]
        self._view.fetch(paths)
        lines = (line.strip().strip("/") for path in paths for line in self._view.text(path).splitlines())
        # `*.js` says nothing of one module: what it is compiled from would have to be there.
        return tuple(line for line in lines if line and not line.startswith(("#", "!")) and not _ANY.search(line))

    def may_make(self, path: str) -> bool:
        """Whether a build may generate a path that is not in the tree: on disk, ignored, named or of a known kind.

        Args:
            path: of a file or its stem, as the import leads to it.
        """
        if any(self._view.on_disk(path + suffix) for suffix in ("", ".py", ".ts", ".js", ".d.ts", ".mjs", ".json")):
            return True
        name = posixpath.basename(path)
        stem = name.partition(".")[0]
        if stem.endswith(("_pb2", "_pb2_grpc", "_pb")) or name in {"types.generated", "$types"}:
            return True
        folders = path.split("/")[:-1]
        missing = [part for n, part in enumerate(folders) if "/".join(folders[: n + 1]) not in self._view.folders]
        if any(_BUILT.match(part) for part in missing) or _BUILT.match(name):
            return True
        if any(self._is_ignored(part) for part in (*missing, name, path, f"{name}.py", f"{name}.ts", f"{name}.js")):
            return True
        return len(stem) > 3 and re.search(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", self._texts) is not None  # noqa: PLR2004 - a word

    def _is_ignored(self, name: str) -> bool:
        return any(
            fnmatch.fnmatchcase(name, line.removeprefix("**/"))
            or (("/" in line) and fnmatch.fnmatchcase(name, f"*/{line}"))
            for line in self._ignored
        )
