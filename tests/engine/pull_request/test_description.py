"""The description of a pull request: bounded, and nobody's words do anything in it."""

from __future__ import annotations

import re

import pytest
from tests.engine.reports.test_goal_page import large

from swarmgate.domain.state.state import TaskStatus
from swarmgate.engine.pull_request.description import BYTES, description


def test_a_large_goal_has_a_description_that_a_forge_takes_with_the_hash_of_the_ledger() -> None:
    record = large().record
    text = description(record, cost=True)
    assert len(text.encode()) <= BYTES
    assert f"`{'a' * 64}`" in text
    assert "100 more: `swarm report`" in text
    assert text.count("<details>") == text.count("</details>") == 1
    rows = text.count(f"`{'b' * 64}`")
    assert f"\n{200 * 7 - rows} more: `swarm report`\n" in text
    wide = record.model_copy(
        update={"tasks": tuple(each.model_copy(update={"title": "ü" * 400}) for each in record.tasks),
                "known_red": tuple("n" * 2_000 for _ in range(40))}
    )  # fmt: skip
    text = description(wide)
    assert len(text.encode()) <= BYTES
    assert "The rest: `swarm report`" in text
    assert f"`{'a' * 64}`" in text


@pytest.mark.parametrize(
    "words",
    ["@everyone", "own/er#7", "#7", "!7", "GH-7", "ABC-7", "https://forge.test/own/er/issues/7", "<b>", "| x |"],
)
def test_words_of_agents_refer_to_nothing(words: str) -> None:
    record = large().record
    skipped = record.tasks[0].model_copy(update={"status": TaskStatus.SKIPPED, "note": f"Fixes {words}"})
    text = description(record.model_copy(update={"tasks": (skipped,)}))
    told = next(line for line in text.splitlines() if line.startswith("- Task 1.1"))
    assert words not in re.sub(r"\\.", "", told)


def test_what_the_goal_refers_to_stays_a_reference() -> None:
    record = large().record
    assert "> Fixes #7 of @me" in description(record.model_copy(update={"goal": "Fixes #7 of @me"})).splitlines()
