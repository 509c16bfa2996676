"""Tests what a seat is made of: its request, its agent of the settings, its role; and its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.project import Project as Sample

from swarmgate.council.requests.seats import as_seat, cast_of, registered, seated, seats_of
from swarmgate.council.requests.yaml_text import line_of, loads
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused
from swarmgate.project import Project

FIELDS = (*Seat.model_fields, "weight")
AGENTS: dict[str, dict[str, Any]] = {
    "roles__reviewer": {"model": "local/judge"},
    "models__tiers": {"fast": "local/fast"},
    "agents__pm": {"role": "product manager", "system": "Ask who wants it.", "model_tier": "fast", "weight": 0.5},
    "agents__ops": {"system_file": "docs/ops.md", "folder": "src", "model": "local/ops"},
    "agents__reviewer": {"system": "Look at the locks, too."},
}


@pytest.fixture
def made(project: Sample) -> Project:
    project.write("docs/ops.md", "You keep it running.\n")
    project.configure(**AGENTS)
    return Project(project.root)


def seat(project: Project, fields: tuple[str, ...] = FIELDS, **given: Any) -> dict[str, Any]:
    return seated(given, fields, project, lambda key: f"`seat.{key}`: ")


def test_a_seat_that_is_called_like_an_agent_is_that_agent(made: Project) -> None:
    assert (
        seat(made, id="pm")
        == seat(made, id="pm", agent="pm")
        == {
            "id": "pm",
            "agent": "pm",
            "role": "product manager",
            "model": "local/fast",
            "system": "You take part as: product manager.\n\nAsk who wants it.",
            "weight": 0.5,
        }
    )
    assert seat(made, id="night", agent="ops")["system"] == "You keep it running."
    assert seat(made, id="night", agent="ops")["folder"] == "src"
    assert "weight" not in seat(made, tuple(Seat.model_fields), id="pm")  # a debate reads none
    assert seat(made, **seat(made, id="pm")) == seat(made, id="pm")  # what is on record may be asked for again
    assert seat(made, id="other") == {"id": "other", "model": "", "system": ""}


def test_what_the_request_says_wins_over_the_agent_and_that_over_its_role(made: Project) -> None:
    own = seat(made, id="pm", model="local/own", system="Mine.", weight=1.0)
    assert (own["model"], own["weight"]) == ("local/own", 1.0)
    assert seat(made, id="pm", weight=0)["weight"] == 0
    assert own["system"] == "You take part as: product manager.\n\nMine."
    assert seat(made, id="night", agent="ops", model_tier="fast")["model"] == "local/fast"
    reviewer = seat(made, id="r", agent="reviewer")
    assert (reviewer["role"], reviewer["model"]) == ("reviewer", "local/judge")
    assert reviewer["system"].startswith("You look at the task as a reviewer")
    assert reviewer["system"].endswith("Look at the locks, too.")
    assert seat(made, id="r", role="critic")["model"] == "local/senior"  # of [roles.default]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"agent": "opz"}, "`seat.agent`: there is no agent 'opz'; did you mean `ops`?"),
        ({"agent": "x" * 90}, "known here: pm, ops, reviewer, architect"),
        ({"agent": 7}, "there is no agent '7'"),
        ({"agent": ["pm"]}, "there is no agent"),
        ({"model_tier": "fasst"}, "`seat.model_tier`: there is no model tier `fasst`"),
        ({"model": "local/a", "model_tier": "fast"}, "`seat.model_tier`: a `model` is given, too"),
    ],
)
def test_what_is_not_there_is_told_with_its_place(made: Project, given: dict[str, Any], told: str) -> None:
    with pytest.raises(CouncilRefused) as refused:
        seat(made, id="s", **given)
    assert told in refused.value.message


def test_a_file_that_is_gone_or_leads_out_of_the_repository_is_no_system_text(project: Sample, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("SECRET")
    (project.root / "link.md").symlink_to(tmp_path / "secret.md")
    project.configure(agents__a={"system_file": "none.md"}, agents__b={"system_file": "link.md"})
    for name in ("a", "b"):
        with pytest.raises(CouncilRefused, match="`system_file`"):
            seat(Project(project.root), id=name)
    told = registered(Project(project.root))
    assert {name: bool(each["problem"]) for name, each in told.items()} == {"a": True, "b": True}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * 8_001, "'own.md' has 8,001 characters: the limit is 1 to 8,000"),
        (" \n", "'own.md' has 0 characters"),
        (None, "there is no file 'own.md' in the repository"),
    ],
)
def test_a_system_text_is_never_cut_and_never_nothing(project: Sample, text: str | None, told: str) -> None:
    if text is not None:
        project.write("own.md", text)
    project.configure(agents__a={"system_file": "own.md"})
    with pytest.raises(CouncilRefused) as refused:
        seat(Project(project.root), id="a")
    assert refused.value.message.startswith(f"`seat.agent`: `system_file`: {told}")
    project.write("own.md", "x" * 8_000)
    assert len(seat(Project(project.root), id="a")["system"]) == 8_000


def test_only_those_that_are_called_by_their_agent_or_role_are_numbered(made: Project) -> None:
    given: list[Any] = ["pm", {"agent": "reviewer"}, {"role": "reviewer"}, {"role": "code  reader!"}, "pm=local/x"]
    found = cast_of(given, Seat.model_fields, made, lambda at, key: f"{at}.{key}: ")
    assert [each["id"] for each in found] == ["pm-1", "reviewer-1", "reviewer-2", "code-reader", "pm-2"]
    assert [each["model"] for each in found[::4]] == ["local/fast", "local/x"]
    assert [each.id for each in seats_of(found)] == [each["id"] for each in found]  # numbered once
    with pytest.raises(CouncilRefused, match="names ann twice"):
        seats_of([{"id": "ann"}, {"id": "ann"}])
    long = seats_of([{"agent": "a" * 40}, {"agent": "a" * 40}])
    assert [len(each.id) for each in long] == [39, 39]


def test_a_role_in_any_words_lends_a_name_that_is_one() -> None:
    roles = ("Prüfer für Löschungen", "市场", "設計", "one who has kept such a thing running for twenty years", "!")
    found = seats_of([{"role": each} for each in roles])
    assert [(each.id, each.role) for each in found] == [
        ("Prufer-fur-Loschungen", roles[0]),
        ("participant-1", roles[1]),
        ("participant-2", roles[2]),
        ("one-who-has-kept-such-a-thing-running-fo", roles[3]),
        ("participant-3", roles[4]),
    ]


def test_a_seat_may_be_written_in_a_word_or_with_names_of_elsewhere() -> None:
    assert as_seat("ann = local/x") == {"id": "ann", "model": "local/x"}
    assert as_seat({"agent": "pm", "systemPrompt": "S"}) == {"id": "pm", "agent": "pm", "system": "S"}
    assert as_seat(7) == 7
    with pytest.raises(ValueError, match="names no model behind"):
        as_seat("ann=")


# --- files ---


@pytest.mark.slow
def test_yaml_says_what_it_means_or_is_refused_with_its_line() -> None:
    assert loads("a: 600_000\nb: [x, {c: no one}]\n") == {"a": 600_000, "b": ["x", {"c": "no one"}]}
    assert loads("subagent({\n mode: 'debate', tasks: [{a: 1},] });") == {"mode": "debate", "tasks": [{"a": 1}]}
    for text, told in (
        ("a: 1\na: 2\n", "line 1: the key `a` stands there twice"),
        ("a: &x [1]\nb: *x\n", "line 1: anchors are not read"),
        ("a: !!python/object:os.system 1\n", "could not determine a constructor"),
        ("a: [1\n", "line 2"),
        ("1: a\n", "line 1: a key is a text"),
        ("a: {yes: b}\n", "line 1: a key is a text"),
        ("a: \x07", "special characters are not allowed"),
        ("a: 2026-99-99", "month must be in"),
        ("[" * 9_000, "nested too deeply"),
        ("x" * 1_000_001, "more than 1,000,000 characters"),
    ):
        with pytest.raises(ValueError, match=told.split("(")[0]):
            loads(text)
    for text, told in (('{"a": 1, "a": 2}', "the key `a` stands there twice"), ("{", "Expecting property name")):
        with pytest.raises(ValueError, match=told):
            loads(text, is_json=True)


def test_the_line_of_a_key_is_found_as_far_as_it_is_written() -> None:
    text = "swarm({\n  a: 1,\n  tasks: [\n    {b: 1},\n    {b: 2,\n     c: 3}]\n})"
    assert [line_of(text, place) for place in (("a",), ("tasks", 1, "c"), ("tasks", 1, "d"), ("tasks", 9), ("z",))] == [
        2, 6, 5, 3, 0,
    ]  # fmt: skip
    assert line_of("{ not yaml", ("a",)) == 0
