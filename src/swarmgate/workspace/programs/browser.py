"""Opens a page or an address in the user's browser: a program of theirs, never one of the work tree."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from pathlib import Path

_OPENERS = ("xdg-open", "open", "wslview")


def open_page(page: Path, folder: Path) -> bool:
    """As `open_address`, a file.

    Args:
        page: the file, absolute.
        folder: what is worked on: nothing that lies there is started.
    """
    return open_address(page.as_uri(), folder, cwd=page.parent)


def open_address(address: str, folder: Path, *, cwd: Path | None = None) -> bool:
    """Whether a program was started that opens an address; it outlives this process.

    That is what `$BROWSER` names, else what opens files on this system.

    Args:
        address: an URL.
        folder: what is worked on: nothing that lies there is started.
        cwd: where the program starts; None: here.

    Raises:
        MissingRequirement: `$BROWSER` names what is not there, or lies in the work tree, or is no command.
    """
    words = _words(os.environ.get("BROWSER", "").partition(os.pathsep)[0])
    if words:
        command = [trusted.named(words[0], folder), *words[1:]]
    else:
        found = next((place for name in _OPENERS if (place := trusted.find(name, folder))), None)
        if found is None:
            return False
        command = [found]
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", *command, address],  # nobody's child: it may be open for days
        cwd=cwd,
        env=trusted.environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        check=False,
    )
    return True


def _words(browser: str) -> list[str]:
    """The words of `$BROWSER`; `%s` is where the page is named, which comes last here."""
    try:
        return [word for word in shlex.split(browser) if word != "%s"]
    except ValueError as error:
        raise MissingRequirement(
            f"$BROWSER is no command: {error}", hint="Set it to the name of a program, or unset it"
        ) from None
