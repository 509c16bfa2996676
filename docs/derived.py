"""The derived part of a page: what stands between two marks, written by the script that the first mark names."""  # noqa: INP001 - a module beside the scripts that share it, not a package

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Derived(NamedTuple):
    """The part of a page that a script writes.

    `page` is the file, `script` the name of the script beside it, and `body` gives the text; `end` is the second mark.
    """

    page: Path
    script: str
    body: Callable[[], str]
    end: str = "<!-- end -->"

    def rendered(self) -> str:
        """The page with the part between its marks written anew.

        Raises:
            ValueError: the page has lost one of its marks.
        """
        mark = f"<!-- begin: written by docs/{self.script} -->"
        before, begin, rest = self.page.read_text(encoding="utf-8").partition(mark)
        _, end, after = rest.partition(self.end)
        if not (begin and end):
            raise ValueError(f"{self.page} needs both marks: {mark} and {self.end}")
        return f"{before}{mark}\n\n{self.body()}\n{self.end}{after}"

    def write(self) -> int:
        """Writes the page; returns the exit code."""
        old, new = self.page.read_text(encoding="utf-8"), self.rendered()
        self.page.write_text(new, encoding="utf-8")
        sys.stdout.write(f"{self.page}: {'unchanged' if new == old else 'written'}\n")
        return 0
