"""An answer that says the same over and over is seen early; honest files that repeat are not."""

from __future__ import annotations

import base64
import json
import random
import time

import pytest

from swarmgate.llm.endpoint.repetition import DATA, WORDS, Repetition

PLAN = "1. Add the parser.\n2. Add its tests.\n"
LOOPS = {
    "one line": "The task is to create the user model.\n",
    "one sentence without line breaks": "I will now look at the file. ",
    "a word": "important and ",
    "a block": "".join(f"- Task {n}: write the module {n}\n" for n in range(30)),
    "a block that holds its own end": "the end\nof it, the end\nof all, and again the end\n",
    "a whole plan": "".join(f"## Phase {n}\nDo the thing number {n * n}, then look at {n * 7}.\n" for n in range(60)),
    "a line and a blank one": "Let me think about this again.\n\n",
}


def watched(text: str, *, size: int = 5, files: bool = False) -> Repetition:
    watch = Repetition(files=files)
    for at in range(0, len(text), size):
        if watch.feed(text[at : at + size]):
            break
    return watch


@pytest.mark.slow
@pytest.mark.parametrize("block", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("size", [1, 7, 4096, 10**9])
def test_a_loop_is_seen_soon_however_it_is_cut(block: str, size: int) -> None:
    endless = PLAN + block * (100_000 // len(block))
    watch = watched(endless, size=size)
    assert watch.found is not None
    assert len(PLAN) <= watch.found <= len(PLAN) + 2 * len(block) + 512
    soon = max(WORDS, 7 * len(block)) + len(PLAN) + 2 * 512
    assert watched(endless[:soon]).found is not None


def test_a_loop_in_the_arguments_of_a_call_is_seen_as_well() -> None:
    assert watched("The same line.\\n" * 10_000, files=True).found is not None
    assert watched('{"tool": "write_file", "arguments": {"content": "' + "The same line.\\n" * 10_000).found is not None


def test_a_loop_without_words_is_seen_later() -> None:
    for block in ("0", " 0,", "!", "\n", "| | |\n", "我们"):
        assert watched(block * (DATA // len(block) + 1024), size=100).found is not None


RANDOM = random.Random(14)  # noqa: S311 - no secret
WORDLIST = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
HONEST = {
    "a table of like rows": "".join(f"| user{n} | active | 2026-01-01 | no remarks at all |\n" for n in range(2_000)),
    "a table of equal rows": "| name | active | no remarks |\n" * 300,
    "a csv of equal rows": "alice,active,never logged in\n" * 500,
    "a csv": "".join(f"{n},alice,active,0.0,0.0\n" for n in range(5_000)),
    "a csv of equal rows in a fence": "```csv\n" + "alice,active,never logged in\n" * 600 + "```\n",
    "a list of like lines": "".join(f"- add a test for the case number {n} of the parser\n" for n in range(2_000)),
    "ascii art": "+" + "-" * 200 + "+\n" + ("|" + " " * 200 + "|\n") * 60,
    "minified data": "[" + ",".join("0" for _ in range(10_000)) + "]",
    "zeros in base64": base64.b64encode(bytes(15_000)).decode(),
    "random base64": base64.b64encode(RANDOM.randbytes(60_000)).decode(),
    "a ruler": "=" * 5_000,
    "equal assertions in a file": "```python\n" + "    assert parser.parse('x') == expected\n" * 300 + "```",
    "words in random order": " ".join(RANDOM.choice(WORDLIST) for _ in range(20_000)),
    "counting": "\n".join(f"Step {n}: go on" for n in range(3_000)),
    "said three times": ("The build fails because of the import. " * 20 + "\n") * 3,
    "html": "".join(f'<td class="cell" id="c{n}">value</td>\n' for n in range(2_000)),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_answers_are_left_alone(text: str) -> None:
    assert watched("Here it is:\n" + text, size=11).found is None
    inside = json.dumps({"path": "data.txt", "content": text})
    assert watched(inside, size=11, files=True).found is None


def test_looking_costs_little() -> None:
    text = "".join(f"line {RANDOM.random()} of it\n" for _ in range(40_000))
    started = time.process_time()
    assert watched(text, size=20).found is None
    assert time.process_time() - started < 5
