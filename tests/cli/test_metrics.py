"""`swarm metrics` as a user types it."""

from __future__ import annotations

from tests.engine.debate_script import debating
from tests.project import Project


def test_the_table_says_what_is_on_record(project: Project) -> None:
    assert project.swarm("metrics").stdout == "Nothing is on record yet.\n"
    assert project.json("metrics") == []
    project.play(*debating())
    outcome = project.json("debate", "Is the cache safe?")
    head, debate, total = project.swarm("metrics").stdout.splitlines()
    assert head.split()[:5] == ["pattern", "runs", "complete", "failed", "open"]
    used = outcome["usage"]["prompt_tokens"] + outcome["usage"]["completion_tokens"]
    assert debate.split()[:9] == ["debate", "1", "1", "0", "0", "0", "0%", "2.00", "1.00"]
    assert debate.split()[-2] == f"{used:,}"
    assert total.split()[0] == "total"
    [row] = project.json("metrics", "--pattern", "debate")
    assert (row["executions"], row["usage"], row["score"]) == (1, outcome["usage"], 1.0)
    assert project.swarm("metrics", "--pattern", "chat").stdout == "No chat is on record yet.\n"


def test_an_unknown_pattern_is_refused_with_the_nearest(project: Project) -> None:
    told = project.swarm("metrics", "--pattern", "debat", exits=2).stderr
    assert "there is no pattern 'debat'" in told
    assert "Did you mean debate?" in told
