"""A program that is spoken to while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import pytest

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.process import piped
from swarmgate.workspace.process.lines import Lines

ECHO = "import sys\nfor line in sys.stdin: print('heard', line, end='', flush=True)"


async def test_lines_go_in_and_come_out(tmp_path: Path) -> None:
    async with piped.start([sys.executable, "-c", ECHO], cwd=tmp_path) as program:
        for word in (b"one", b"two"):
            await program.send(word)
            assert await program.receive() == b"heard " + word
        assert program.exit_code is None


async def test_what_it_says_last_is_heard_and_then_that_it_has_ended(tmp_path: Path) -> None:
    code = "import sys; print('bye'); sys.stderr.write('no key'); sys.exit(3)"
    async with piped.start([sys.executable, "-c", code], cwd=tmp_path) as program:
        assert await program.receive() == b"bye"
        with pytest.raises(piped.Ended):
            await program.receive()
        assert (program.exit_code, program.stderr) == (3, "no key")
        with pytest.raises(piped.Ended):
            await program.send(b"x" * 1_000_000)


async def test_a_line_longer_than_the_pipe_arrives_whole(tmp_path: Path) -> None:
    code = "import sys\nfor line in sys.stdin: print(len(line), flush=True)"
    async with piped.start([sys.executable, "-c", code], cwd=tmp_path) as program:
        await program.send(b"x" * 1_000_000)
        assert await program.receive() == b"1000001"


async def test_a_reader_that_dies_ends_a_write_that_waits(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.buffer.read(100_000)"
    async with piped.start([sys.executable, "-c", code], cwd=tmp_path) as program:
        with pytest.raises(piped.Ended):
            await program.send(b"x" * 10_000_000)


async def test_nothing_outlives_the_block(tmp_path: Path) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    async with piped.start([sys.executable, "-c", code], cwd=tmp_path) as program:
        number = int(await program.receive())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="no-such-program"):
        async with piped.start(["no-such-program"], cwd=tmp_path):
            pass


async def test_a_flood_that_nobody_reads_ends_the_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piped, "_WAITING", 100_000)
    code = "import os\nwhile True: os.write(1, b'x' * 999 + b'\\n')"
    async with piped.start([sys.executable, "-c", code], cwd=tmp_path) as program:
        heard = 0
        with contextlib.suppress(piped.Ended):
            while heard < 10_000:
                await asyncio.sleep(0.01)  # the reader is slower than the program
                heard += len(await program.receive()) > 0
        assert heard < 10_000


def test_a_line_that_is_too_long_is_passed_over_and_the_next_one_is_not() -> None:
    heard: list[bytes] = []
    lines = Lines(heard.append, longest=10)
    for piece in (b"first\n123456", b"7890", b"12\nse", b"cond\n", b"123456789012345\nthird\nnot yet"):
        lines.feed(piece)
    assert heard == [b"first", b"second", b"third"]
