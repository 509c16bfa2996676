"""Renders HTML pages from templates: self-contained, without scripts, with all text escaped.

A page is a jinja2 template in the folder `templates/` beside the code that fills it, and extends `page.html` of the
folder beside this file.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.text.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(code: str, template: str, *, folders: tuple[Path, ...] = (), **values: object) -> str:
    """The page.

    Args:
        code: the `__file__` of the code whose page it is.
        template: the name of its template.
        folders: of templates beside its own that it includes.
        values: what the template speaks of; text among them is escaped where it is shown.
    """
    return _environment((Path(code).parent / "templates", *folders)).get_template(template).render(values)


@cache
def _environment(folders: tuple[Path, ...]) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - late: a tenth of a second

    return Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _visible(value: object) -> object:
    """What a template shows, with nothing in it that steers or reorders; what came out of a macro is markup already."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
