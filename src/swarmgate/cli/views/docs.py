"""`swarm docs`: the pages and examples that come with this installation."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json
from swarmgate.terminal.terminal import boundary

_INDEX = "README"
_HEADING = re.compile(r"^(#+) (.*)$")


def _pages() -> dict[str, Path]:
    """Every page by its path in the folder of pages, without the ending, and every example; the index comes first."""
    from swarmgate import assets

    folder = assets.docs()
    found = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.md"))}
    examples = {f"examples/{path.name}": path for path in sorted(assets.examples().iterdir()) if path.is_file()}
    return {_INDEX: found[_INDEX], **found, **examples}


def _completed(incomplete: str) -> list[str]:
    return [name for name in _pages() if name.startswith(incomplete)]


def command(
    page: Annotated[
        str,
        typer.Argument(
            metavar="PAGE[#SECTION]",
            autocompletion=_completed,
            show_default=False,
            help="The name of a page, or its file; the index by default.",
        ),
    ] = _INDEX,
    json: Json = False,
) -> None:
    """Read the pages that come with this installation.

    Messages name pages like this. SECTION is a heading, in small letters, with dashes for blanks. Examples are listed
    in the index: swarm docs examples/chat.toml > chat.toml

    Example: swarm docs commands#swarm-run
    """
    with boundary(json) as terminal:
        name, _, anchor = page.partition("#")
        pages = _pages()
        name = _known(name, pages)
        text = pages[name].read_text(encoding="utf-8")
        if anchor:
            text = section(text, anchor, name)
        if json:
            terminal.result({"page": name, "file": str(pages[name]), "text": text, "pages": list(pages)})
        elif sys.stdout.isatty() and pages[name].suffix == ".md":
            _show(text)
        else:
            terminal.text(text)


def _known(wanted: str, pages: dict[str, Path]) -> str:
    """The page that is meant by its name, by its file, or by the last part of its name.

    Raises:
        UsageError: there is none.
    """
    name = wanted.removeprefix("docs/").removesuffix(".md")
    found = name if name in pages else next((each for each in pages if each.rpartition("/")[2] == name), "")
    if not found:
        from swarmgate.config import nearest
        from swarmgate.errors import UsageError

        close = nearest(name, pages)
        hint = f"did you mean `swarm docs {close}`?" if close else "the list of all: swarm docs"
        raise UsageError(f"there is no page {wanted[:60]!r}", hint=hint)
    return found


def section(text: str, anchor: str, page: str) -> str:
    """The part of a page under one heading, with the headings below it.

    Raises:
        UsageError: the page has no such heading.
    """
    slugs: list[str] = []
    part: list[str] = []
    level, fenced = 0, False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading:
            slugs.append(slug(heading[2]))
            if part and len(heading[1]) <= level:
                break
            if not part and slugs[-1] == anchor.lower():
                level = len(heading[1])
        if level:
            part.append(line)
    if not part:
        from swarmgate.errors import UsageError

        raise UsageError(f"the page {page} has no section {anchor[:60]!r}", hint=f"it has: {', '.join(slugs)}")
    return "".join(part)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _show(text: str) -> None:
    """Lays a page out for the width of the terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(color_system=None) if os.environ.get("NO_COLOR") else Console()
    console.print(Markdown(text, hyperlinks=False))
