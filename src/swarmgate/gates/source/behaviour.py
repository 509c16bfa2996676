"""Checks whether two versions of a source file differ in behaviour: in syntax, not in comments or layout."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import DATA, language_of
from swarmgate.gates.source import grammar_tree, python_tree
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from tree_sitter import Node

_OTHER = {
    "documents": "adoc asciidoc bib bibtex doc docx epub odp ods odt org pdf ppt pptx rtf tex textile wiki xls xlsx",
    "data": "approved arrow avro bin csv dat data db dic dump expected feather golden h5 hdf5 ics lst mo npy npz orc",
    "more data": "parquet pickle pkl po pot psv resx snap sqlite sqlite3 srt tsv vcf vtt",
    "pictures": "ai bmp drawio eps gif icns ico jpeg jpg png psd tif tiff avif webp",
    "other media": "eot fbx flac glb gltf m4a mkv mov mp3 mp4 avi obj ogg otf stl ttf wav webm woff woff2",
    "archives, compiled": "7z a bz2 class crx dll dylib egg exe gz jar lib node o pyc pyd rar so tar tgz war wasm whl",
    "more archives, keys": "xz zip zst asc cer crt csr key md5 pem pub sha256 sig",
    "builds": "bzl cmake csproj entitlements fsproj iml in mk mod pbxproj plist props sln storyboard sum targets",
    "others": "bak diff example keep license lock log map orig out patch sample tfstate typed vbproj work xcconfig xib",
}
_NO_CODE = frozenset(ending for endings in _OTHER.values() for ending in endings.split())
"""Endings of documents, data, media, archives, compiled files, keys and builds whose language has no name here."""
_NOTEBOOK = ".ipynb"
_PREFIX = 8_000
"""Bytes in which a NUL makes a file binary, as git sees it (`buffer_is_binary`)."""
_COMMENT = "comment"
"""In the name of every grammar's nodes for comments (`line_comment`, `block_comment`, `html_comment` ...)."""
_DIRECTIVE = re.compile(
    rb"\A(?:#!|//(?:go:|export |extern |line )|//\s*\+build|//\s*(?:swift-tools-version|@dart)\b|/\*[!+]|--\+|\{-#)"
    rb"|\A#.*?\b(?:frozen[_-]string[_-]literal|(?:en)?coding|warn_indent|shareable_constant_value)\s*[:=]"
    rb"|@(?:jsx\w*|(?:jest|vitest)-environment|vite-ignore)\b|[#@]__(?:PURE|NO_SIDE_EFFECTS)__|\bwebpack[A-Z]\w*:"
)
"""Comments that a compiler or a runner reads: Go, Swift, Dart, SQL's hints, Haskell, Ruby, JavaScript's pragmas."""
_PHP_ANNOTATION = re.compile(rb"@(?:[A-Z]\w*|test|dataProvider|depends|requires|before|after)\b")
_CGO = re.compile(rb'^\s*import\s*(?:\(\s*)?"C"', re.MULTILINE)
"""After a comment that is C code."""


def is_code(path: str, content: bytes = b"") -> bool:
    """Whether a file holds code that runs: neither data, nor markup, nor prose, nor a type stub.

    Args:
        path: by its name; what ends in a way that nobody knows is code.
        content: tells a script without an ending by its first line, and what is binary; empty where it is not known.
    """
    if path.endswith((".pyi", ".d.ts")) or b"\0" in content[:_PREFIX]:
        return False
    if path.endswith(_NOTEBOOK):
        return True
    if language := language_of(path, content):
        return language not in DATA
    name, _, ending = path.rpartition("/")[2].lower().rpartition(".")
    return bool(name) and ending not in _NO_CODE and not ending.isdigit()


def differs(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether the code differs beyond comments, docstrings and layout.

    Python is compared by its syntax tree, other languages by their grammar's tree, and by the text itself what neither
    can read. Comments that a compiler or runner reads count. None stands for a file that is not there: it equals an
    empty one.
    """
    old, new = before or b"", after or b""
    return old != new and _essence(path, old) != _essence(path, new)


def _essence(path: str, content: bytes) -> object:
    language = language_of(path, content)
    called = content.partition(b"\n")[0].strip() if content.startswith(b"#!") else b""
    try:
        if language == "python":
            return called, _python(content)
        grammar = grammars.grammar_of(path, language)
        if not grammar or (language == "go" and _CGO.search(content)):
            return content
        return called, tuple(_tree(grammar, content, language))
    except (SyntaxError, ValueError, RecursionError, MemoryError, grammars.TooSlow):
        return content


def _python(content: bytes) -> str:
    tree = python_tree.own(content)
    for node in python_tree.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_remark(each)]
    return ast.dump(tree)


def _is_remark(node: ast.stmt) -> bool:
    """A docstring, or any other string that stands alone and does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _tree(grammar: str, content: bytes, language: str) -> Iterator[tuple[str, bytes]]:
    """The tree as its brackets, tokens, and what stands between tokens: some grammars keep text in inner nodes.

    The brackets tell `return x` from `return` and `x` on the next line.
    """
    stack: list[Node | None] = [grammar_tree.parse(content, grammar).root_node]
    read = 0
    while stack:
        node = stack.pop()
        if node is None:
            yield ")", b""
            continue
        remark = _COMMENT in node.type
        if remark or not node.children:
            if between := content[read : node.start_byte].strip():
                yield "", between
            read = max(read, node.end_byte)
            text = content[node.start_byte : node.end_byte]
            if not remark or _is_directive(text, language):
                yield node.type, text
            continue
        yield "(", node.type.encode()
        stack += [None, *reversed(node.children)]
    if rest := content[read:].strip():
        yield "", rest


def _is_directive(comment: bytes, language: str) -> bool:
    return bool(_DIRECTIVE.search(comment) or (language == "php" and _PHP_ANNOTATION.search(comment)))
