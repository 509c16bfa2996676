"""A changed file as a pair of revisions, with its content, lines and syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from swarmgate.gates.project.files import Trait, Trust
from swarmgate.gates.source import comments, grammar_tree, python_tree
from swarmgate.gates.source.parse_cache import once
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    import ast

    from tree_sitter import Tree

    from swarmgate.gates.source.comments import Remark

KEPT_BYTES = 8_000_000
"""Of so much source, texts and comments are held."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a file: its path, language and bytes; everything parsed from it is cached."""

    path: str
    language: str = ""
    content: bytes = b""

    @property
    def text(self) -> str:
        r"""The content as text with `\n` line ends; bytes that are no UTF-8 are read as Latin-1."""
        return text_of(self.content)

    @property
    def tree(self) -> ast.Module:
        """Python's syntax tree.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: see `python_tree.parse`.
        """
        return python_tree.parse(self.content)

    @property
    def syntax(self) -> Tree | None:
        """The tree of the language's grammar; None where there is none.

        Raises:
            TooSlow: the grammar did not end in time.
        """
        grammar = grammars.grammar_of(self.path, self.language)
        return grammar_tree.parse(self.content, grammar) if grammar else None

    @property
    def comments(self) -> tuple[Remark, ...]:
        """The comments, line by line, in a language of `comments.languages()`."""
        return _comments(self.content, self.language)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A changed file: its old revision (None: it is added) and its new one (None: it is deleted).

    A content is empty where no gate reads it. Of `traits`, `unproven` are those in `SAID` of a content that the base
    revision does not have; of these, `claimed` are those that nothing but the name of a new file tells. `size` are the
    bytes on disk.
    """

    old: Revision | None
    new: Revision | None
    traits: frozenset[Trait] = frozenset()
    added_lines: frozenset[int] = frozenset()
    size: int = 0
    unproven: frozenset[Trait] = frozenset()
    claimed: frozenset[Trait] = frozenset()

    @classmethod
    def of(
        cls,
        path: str,
        language: str = "",
        traits: frozenset[Trait] = frozenset(),
        content: bytes = b"",
        *,
        old: Revision | None = None,
        **fields: Any,
    ) -> SourceFile:
        """A file that is there now; without `old`, it is an added one."""
        return cls(old, Revision(path, language, content), traits, **fields)

    @property
    def now(self) -> Revision:
        """The new revision; an empty one for a deleted file."""
        if self.new is not None:
            return self.new
        return Revision(self.old.path, self.old.language) if self.old else Revision("")

    @property
    def path(self) -> str:
        """The current path; the old one for a deleted file."""
        return self.now.path

    @property
    def language(self) -> str:
        """The language of what is judged."""
        return self.now.language

    @property
    def content(self) -> bytes:
        """The content of the new revision."""
        return self.now.content

    @property
    def base_path(self) -> str:
        """The path in the base; empty for an added file."""
        return self.old.path if self.old else ""

    @property
    def was(self) -> Revision:
        """The old revision; an empty one for an added file."""
        return self.old or Revision("", self.language)

    @property
    def added(self) -> bool:
        """Whether the base revision has no such file."""
        return self.old is None

    @property
    def is_test(self) -> bool:
        """Whether it is a test, or lies among tests."""
        return Trait.TEST in self.traits

    @property
    def cut(self) -> bool:
        """Whether `content` is only the beginning of the file."""
        return len(self.content) < self.size and Trait.LARGE in self.traits

    @property
    def past(self) -> SourceFile:
        """The old content as a file of its own, under the new path and traits."""
        return self.holding(self.was.content)

    def holding(self, content: bytes) -> SourceFile:
        """A copy of the file with another content."""
        return replace(self, new=replace(self.now, content=content))

    def trusted(self, trust: Trust) -> SourceFile:
        """A copy of the file without the traits that are not believed."""
        doubted = {Trust.CONTENT: self.unproven, Trust.DECLARED: self.claimed, Trust.NAME: frozenset[Trait]()}[trust]
        return replace(self, traits=self.traits - doubted) if doubted else self


@once(KEPT_BYTES)
def text_of(content: bytes) -> str:
    r"""A file's text with `\n` line ends; bytes that are no UTF-8 are read as Latin-1: ASCII is found all the same."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@once(KEPT_BYTES)
def _comments(content: bytes, language: str) -> tuple[Remark, ...]:
    return tuple(comments.of(language, text_of(content)))
