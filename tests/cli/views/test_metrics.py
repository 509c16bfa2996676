"""`swarm metrics` as a user types it."""

from __future__ import annotations

from json import dumps

from tests.council.debate_script import debating
from tests.project import Project, rule

from swarmgate.domain.evidence.summary import in_words
from swarmgate.domain.usage import Usage, cost_in_column, cost_in_words


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


def test_a_cost_is_told_as_far_as_it_is_known() -> None:
    costs = {
        "cost unknown": Usage(calls=2, usd=None),
        "at least $0.0123, the rest unknown": Usage(calls=2, usd=None, known_usd=0.0123),
        "$1.5000": Usage(calls=1, usd=1.5),
        "$0.0000": Usage(),
    }
    assert {told: cost_in_words(usage) for told, usage in costs.items()} == {told: told for told in costs}
    assert [cost_in_column(usage) for usage in costs.values()] == ["unknown", "at least $0.0123", "$1.5000", "$0.0000"]


def test_a_lower_bound_is_never_more_than_what_is_known() -> None:
    assert in_words(Usage(prompt_tokens=1200, usd=None, known_usd=0.0068, seconds=3)) == (
        "1,200 tokens, at least $0.0068, the rest unknown, 3 s"
    )
    assert in_words(Usage(prompt_tokens=1200, usd=None)) == "1,200 tokens, cost unknown, 0 s"


def test_a_record_that_is_no_text_is_damaged_and_blocks_nothing(project: Project) -> None:
    agrees = rule("participant", "contribute", {"text": dumps({"agreement": 0.9, "stand": "agree"})})
    facilitates = rule("participant", "facilitate", {"text": dumps({"proposal": "Ship it.", "openPoints": []})})
    project.play(agrees, facilitates)
    torn = project.folder.discussions / "torn" / "journal.jsonl"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"\xff\xfe\n")
    seats = ("--participant", "ann", "--participant", "bob")
    made = project.json("decide", "Shall it ship?", *seats)
    for verb in ("decide", "critique"):
        assert "torn" in [row["id"] for row in project.json(verb, "list")], verb
    told = project.swarm("metrics").stdout
    assert "Damaged: torn: .swarm/discussions/torn/journal.jsonl has no first line that can be read." in told
    assert project.json("decide", "show", made["id"])["outcome"]["consensus"] is True
    [row] = project.json("metrics", "--pattern", "decide")
    assert row["pattern"] == "decision"
    found = {row["pattern"]: row for row in project.json("metrics")}
    assert (found["decision"]["complete"], found["unknown"]["executions"], found["total"]["executions"]) == (1, 1, 2)
    edited = project.folder.discussions / made["id"] / "journal.jsonl"
    edited.write_text(edited.read_text().replace("0.9", "0.8"))
    rows = {row["id"]: row for row in project.json("decide", "list")}
    assert {row["status"] for row in rows.values()} == {"damaged"}
    assert (rows["torn"]["began"], rows[made["id"]]["began"][:2]) == ("", "20")
    assert [len(row["damaged"]) for row in project.json("metrics", "--pattern", "decision")] == [1]
    project.play(agrees, facilitates, council={"store": "sqlite"})
    for args in (("decide", "list"), ("critique", "list"), ("orchestrate", "list"), ("metrics",)):
        assert "2 records are in .swarm/discussions (store = files)" in project.swarm(*args).stderr
    assert "2 records are in" in project.swarm("decide", "show", made["id"], exits=2).stderr


def test_an_unknown_pattern_is_refused_with_the_nearest(project: Project) -> None:
    told = project.swarm("metrics", "--pattern", "debat", exits=2).stderr
    assert "there is no pattern 'debat'" in told
    assert "Did you mean debate?" in told
