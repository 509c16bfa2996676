"""Instruments Python code: records which changed lines run, and replaces function bodies.

A changed file is written anew, at the same places in each mode: it only says which lines ran (`PASS`), or each new or
changed function raises at once (`RAISE`), or returns a wrong constant (`CONSTANT`). The text of the three differs in
one digit, so that a test which looks at the text of the code sees no difference between them. No tracer is used: the
code says itself what ran, in any process, thread and version of Python, and nothing competes with coverage tools.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

_RUNTIME = """
import builtins, sys
from os import O_APPEND, O_CREAT, O_WRONLY, close, open, write
mode, everywhere, places, name = {mode}, {everywhere}, {places}, {name}
seen, called = set(), set()
class Wrong:
    pass
class Untrue:
    def __bool__(self):
        raise TypeError("a wrong result")
def importing():
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
def say(text):
    for place in places:
        try:
            file = open(place, O_WRONLY | O_APPEND | O_CREAT, 0o600)
            write(file, text.encode())
            return close(file)
        except OSError:
            pass
def probe(number, body=0):
    if number not in seen:
        seen.add(number)
        say(number + "\\n")
    if not body or (number in called and not mode):
        return False
    if importing() and not everywhere:
        return False
    if number not in called:
        called.add(number)
        say(number + " called\\n")
    if mode == 1:
        raise Exception("the body of this function was replaced")
    return mode == 2
probe.wrong, probe.untrue = Wrong(), Untrue()
setattr(builtins, name, probe)
"""
"""What a rewritten file brings along, once a process; it takes its functions before a test can replace them."""


class Mode(IntEnum):
    """What a replaced function body does: run as it is, raise, or return a constant."""

    PASS = 0
    RAISE = 1
    CONSTANT = 2


@dataclass(frozen=True)
class Unit:
    """A part of the change that a passing test has to run: one of `probes` is enough. `line` counts from 1.

    `defined` is the probe before a function that is not defined on each machine, `imported` that of its file.
    """

    path: str
    name: str
    line: int
    probes: tuple[str, ...]
    defined: str = ""
    imported: str = ""

    def left_by(self, hits: Collection[str]) -> bool:
        """Whether it did not run, and is there to be run: what another system defines is not."""
        elsewhere = self.defined and self.defined not in hits and self.imported in hits
        return not elsewhere and not any(probe in hits for probe in self.probes)

    def __str__(self) -> str:
        return f"{self.name} ({self.path}:{self.line})"


@dataclass(frozen=True)
class Rewritten:
    """A changed file, ready to be written in each mode; `functions` are probes of replaceable bodies by their names.

    `defined` holds, by the probe of such a body, the one before its definition, where not each machine comes by it;
    `imported` says that the file ran.
    """

    path: str
    units: tuple[Unit, ...]
    functions: Mapping[str, str]
    source: bytes = field(repr=False)
    insertions: tuple[tuple[int, str], ...] = field(repr=False)
    defined: Mapping[str, str] = field(default_factory=dict)
    imported: str = ""

    def replaced(self, hits: Collection[str]) -> bool:
        """Whether a body was there to be replaced, by what ran: one that another system defines was not."""
        ran = self.imported in hits
        return any(not ran or self.defined.get(probe, self.imported) in hits for probe in self.functions)

    @property
    def unasked(self) -> Rewritten:
        """The same file, where no part of it has to run."""
        return replace(self, units=())

    def text(self, mode: Mode, places: Sequence[str], *, name: str, everywhere: bool = False) -> bytes:
        """The whole file.

        Args:
            mode: what it does.
            places: the file to which it says what ran, by all its paths: a sandbox may show it under another one.
            name: what its probe is called, the same for all files of a run.
            everywhere: bodies are replaced while modules are imported as well.
        """
        runtime = _RUNTIME.format(
            mode=int(mode), everywhere=int(everywhere), places=ascii(tuple(places)), name=ascii(name)
        )
        first = f'{name!a} in __import__("builtins").__dict__ or exec({runtime!a}, {{}})'
        parts, read = [], 0
        for offset, text in self.insertions:
            parts += [self.source[read:offset], text.replace(FIRST, first).replace(PROBE, name).encode()]
            read = offset
        return b"".join([*parts, self.source[read:]])


FIRST, PROBE = "\0first\0", "\0probe\0"
"""What stands in an insertion for what makes the probe, and for its name."""


def probe_name() -> str:
    """A name that no test can know beforehand."""
    return f"_swarmgate_{secrets.token_hex(4)}"
