"""Tests the files of a discussion: their content, and that text from models stays escaped."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.council.discussion.records import lightweight, message, records, standard

from swarmgate.council.discussion.argument.graph import Graph
from swarmgate.council.discussion.model import Cast, DiscussionRecord, DiscussionRound
from swarmgate.council.discussion.view.artifacts import artifacts
from swarmgate.council.discussion.view.mermaid import label
from swarmgate.council.discussion.view.plain_text import text_lines
from swarmgate.council.discussion.view.round_record import round_records
from swarmgate.council.views.markdown import item, quote
from swarmgate.domain.text.markdown import line

HOSTILE = (
    '</script><script>alert(1)</script>"]; end\n# Forged\n```\n| a | b |\n'
    "\u202egnp\x1b[31m%%{init}%% [x](javascript:y) `"
)
RECORDS = {"standard": standard, "lightweight": lightweight}
VOID = {"meta"}


def test_the_record_of_a_round_has_the_fields_of_a_message_without_prose_as_its_content() -> None:
    found = json.loads(round_records(standard(), {})["rounds/001.json"])
    said = {each["type"]: each["content"] for each in found["messages"]}
    assert "disagreement budget: 5 of 10" in said["opening"].splitlines()
    assert "scores, of 5: genuine disagreement" in said["quality_gate"]


class Page(HTMLParser):
    """Tags that were opened and closed as they should be, their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.said = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "marker-end")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


def hostile() -> DiscussionRecord:
    """The standard record with every text of it hostile."""

    def spoilt(value: Any, name: str = "") -> Any:
        match value:
            case dict():
                return {key: spoilt(each, key) for key, each in value.items()}
            case list() if name in ("cites", "source", "between", "condensed"):
                return value
            case list():
                return [spoilt(each, name) for each in value]
            case str() if " " in value:
                return f"{HOSTILE}{value}"
        return value

    return DiscussionRecord.model_validate(spoilt(standard().model_dump(mode="json")))


# --- what is in them ---


@pytest.mark.parametrize("kind", RECORDS)
def test_every_file_ends_with_one_line_end(kind: str) -> None:
    record = RECORDS[kind]()
    for name, text in {**artifacts(record), "show": "\n".join(text_lines(record)) + "\n"}.items():
        assert text.endswith("\n"), name
        assert not text.endswith("\n\n"), name


def lines(text: str, *begin: str) -> list[str]:
    """The lines that begin so, without what is before their words."""
    return [each.strip() for each in text.splitlines() if each.strip().startswith(begin)]


def test_the_flowchart_frames_rounds_and_tells_links_and_voices_apart() -> None:
    text = artifacts(standard())["artifacts/argument-graph.mmd"]
    assert text.startswith("flowchart TB\n")
    assert lines(text, "subgraph") == ['subgraph round_1["Round 1"]', 'subgraph round_2["Round 2"]']
    drawn = {
        'r1_msg_006["r1-msg-006 user, argue: I live below it."]:::person',
        'r1_msg_010["r1-msg-010 cross-domain, analogy: gave no answer"]:::failed',
        'r2_msg_004["r2-msg-004 contrarian, attack: And if not#63;"]:::role',
        'r1_msg_004 -.->|"counters (steel-man)"| r1_msg_002',
        'r1_msg_005 -->|"supports"| r1_msg_003',
        'r1_msg_008 ---|"responds_to"| r1_msg_005',
    }
    assert drawn <= set(lines(text, "r1_", "r2_"))
    assert lines(text, "linkStyle") == [
        "linkStyle 0,1,4,7,10,11 stroke:#b2182b,stroke-width:2px",
        "linkStyle 2,3 stroke:#1b7837,stroke-width:2px",
        "linkStyle 6,9 stroke:#b35806,stroke-width:2px",
    ]


def test_position_evolution_has_a_row_for_each_stand_with_what_moved_it() -> None:
    text = artifacts(standard())["artifacts/position-evolution.md"]
    assert lines(text, "#") == [
        "# Position evolution: Should the old dam go?",
        "## economist, Ada Marsh",
        "## ecologist, Ben Fenn",
    ]
    moved = "| 2 | r2-msg-007 | respond | 80% | major | r2-msg-003, r1-msg-005 | the silt | Take it down. |"
    refused = "none (a claimed minor shift was refused: it cites no message) | - | tired"
    assert moved in text.splitlines()
    assert f"| 1 | r1-msg-009 | respond | 90% | {refused} | Take it down. The river was here first. |" in text
    assert len(lines(text, "| 1 |", "| 2 |")) == 7


def test_the_summary_says_where_it_stands() -> None:
    text = artifacts(standard())["context/summary.md"]
    assert [each[3:] for each in lines(text, "## ")] == [
        "Topic",
        "Constraints",
        "Progress, the newest round first",
        "Where it stands",
        "Positions now",
        "Open disagreements",
        "To address next",
        "Quality over the rounds",
        "Tensions",
        "Conclusion",
        "Position evolution",
        "Said last",
    ]
    for expected in (
        "Discussion disc-1: standard, 2 of at most 3 rounds, complete.",
        "- economist, confidence 80%: Take it down.",
        "- economist against ecologist: price or right - what a river is",
        "- Round 1: overall 4 of 5, disagreement 7.5 of 10, 1 shift",
        "- It is declining: 4 -> 3 of 5",
        (
            "- economist: 70% -> 55% (minor shift in r1-msg-008, moved by r1-msg-005) -> 40% -> 80% "
            "(major shift in r2-msg-007, moved by r2-msg-003, r1-msg-005)"
        ),
    ):
        assert expected in text.splitlines()
    paused = artifacts(lightweight())["context/summary.md"]
    assert "lightweight, 0 of at most 2 rounds, paused: the user asked for it." in paused
    assert "## Conclusion" not in paused


def test_the_replay_tells_who_said_what_to_whom_and_what_was_corrected() -> None:
    text = text_lines(standard())
    assert text[:3] == ["Discussion disc-1", "  Should the old dam go?", "  standard, 2 of at most 3 rounds, complete"]
    at = text.index("  r1-msg-009 ecologist (x/y), respond  1 call, 1,500 tokens, $0.0024, 1.5 s")
    assert text[at + 1 : at + 5] == [
        "    No.",
        "    - questions r1-msg-007",
        "    - position shift none: a claimed minor shift was refused: it cites no message",
        "    noted: a shift was refused",
    ]
    for expected in (
        "Round 1 (12.5 s)",
        "  - left out: an expert too many: `lawyer`",
        "  r1-msg-006 user, a person, argue",
        "    - counters r1-msg-002; steel-man: A river that is dead cannot be bought back.",
        "    names what it was not shown: r9-msg-001",
        "    failed: the model gave no answer in 30 s",
        "  After round 1, the user: inject - It must cost nothing.",
        "Agreements, resolved by argument:",
    ):
        assert expected in text
    paused = text_lines(lightweight())
    assert "Round 1, not finished" in paused
    assert "No synthesis yet: paused: the user asked for it" in paused
    assert paused[-1] == "5 calls, 6,900 tokens, $0.0100, 9.5 s"


def test_the_page_has_what_came_of_it_the_cast_and_every_word() -> None:
    said = Page(artifacts(standard())["artifacts/discussion.html"]).said
    for expected in (
        "Should the old dam go?",
        "The dam goes.",
        "It goes. [r2-msg-003, r2-msg-007] (resolved by argument)",
        "economist: Ada Marsh",
        "bias: prices everything",
        "Who countered whom",
        "constraint: It must cost nothing.",
        "failed: the model gave no answer in 30 s",
        "Built in 1931.",
    ):
        assert expected in said, expected


def test_a_discussion_that_has_not_begun_has_files_too() -> None:
    bare = standard().model_copy(
        update={"cast": None, "rounds": (), "choices": (), "conclusion": None, "status": "paused"}
    )
    files = artifacts(bare)
    assert "There is no synthesis" in files["artifacts/synthesis.md"]
    assert "Nobody has declared a position yet." in files["artifacts/position-evolution.md"]
    assert "None was named." in files["artifacts/open-questions.md"]
    assert "<svg" not in files["artifacts/discussion.html"]
    assert text_lines(bare)[0] == "Discussion disc-1"


def test_a_round_in_which_nobody_declared_a_position_is_drawn() -> None:
    none = DiscussionRound(number=1, messages=(message(1, 1, "position", "economist", failed="no"),))
    record = lightweight().model_copy(update={"partial": none, "cast": Cast(experts=())})
    page = Page(artifacts(record)["artifacts/discussion.html"])
    assert page.open == []
    assert "economist" in page.said


# --- what they say ---


def test_the_synthesis_tells_argument_from_majority_and_whoever_dissented_or_failed() -> None:
    text = artifacts(standard())["artifacts/synthesis.md"]
    assert "## Agreements: resolved by argument\n\n- It goes. [r2-msg-003, r2-msg-007]" in text
    assert "## Agreements: resolved by majority\n\n- It is old. [r1-msg-011]" in text
    assert "- Silt decides. [r2-msg-003]\n  - Dissent: The flood of 1953 says otherwise." in text
    assert "- cross-domain failed in round 1, analogy (r1-msg-010): the model gave no answer in 30 s" in text
    assert "at least $0.0400, the rest unknown" in text


def test_open_questions_stand_once_with_where_they_were_asked() -> None:
    text = artifacts(standard())["artifacts/open-questions.md"]
    assert re.findall(r"^- .*", text, re.MULTILINE) == [
        "- Who pays? (round 1, round 2, synthesis)",
        "- What happens to the silt? (round 1)",
        "- How fast? (round 2)",
    ]


def test_the_graph_file_is_the_graph() -> None:
    found = json.loads(artifacts(standard())["artifacts/argument-graph.json"])
    assert (found.pop("discussion"), [each["disagreement"] for each in found.pop("measured")]) == ("disc-1", [7.5, 7.5])
    graph = Graph.model_validate(found)
    assert len(graph.nodes) == 21
    assert set(found["edges"][0]) == {"source", "target", "kind", "steelManned"}


# --- whatever is said stays text ---


def test_the_page_is_whole_loads_nothing_and_every_link_leads_somewhere() -> None:
    for record in (standard(), lightweight(), hostile()):
        text = artifacts(record)["artifacts/discussion.html"]
        found = Page(text)
        assert found.open == []
        assert not {"script", "img", "iframe", "object", "link", "form"} & {*found.tags}
        assert len(found.ids) == len({*found.ids})
        targets = [each.removeprefix("url(").removesuffix(")") for each in found.links]
        assert all(each.startswith("#") and each[1:] in found.ids for each in targets)
        assert "default-src 'none'" in text
        rounds = (*record.rounds, *([record.partial] if record.partial else []))
        assert {each.id for held in rounds for each in held.messages} <= {*found.ids}


def test_half_a_character_and_what_looks_like_a_template_are_text_on_the_page() -> None:
    record = standard()
    asked = record.discussion.model_copy(update={"topic": "Half \ud83d of {{ 7 * 7 }} '\"><script>"})
    text = artifacts(record.model_copy(update={"discussion": asked}))["artifacts/discussion.html"]
    found = Page(text)
    assert "Half \ufffd of {{ 7 * 7 }} '\"><script>" in found.said
    assert "script" not in found.tags
    assert text.encode("utf-8")


def test_hostile_text_is_text_in_every_file() -> None:
    record = hostile()
    files = {**artifacts(record), "show": "\n".join(text_lines(record))}
    shown = Page(files["artifacts/discussion.html"]).said
    assert "</script><script>alert(1)</script>" in shown
    for name in set(files) - {"show"}:
        assert not re.search("[\x1b\u202e]", files[name]), name
    own, theirs = (
        re.findall(r"^\s*(?:#.*|```.*|\|.*)$", artifacts(each)["artifacts/synthesis.md"], re.MULTILINE)
        for each in (standard(), record)
    )
    assert [re.sub(r":.*", "", each) for each in own] == [re.sub(r":.*", "", each) for each in theirs]
    json.loads(files["artifacts/argument-graph.json"])
    mermaid = files["artifacts/argument-graph.mmd"].splitlines()
    assert len(mermaid) == len(artifacts(standard())["artifacts/argument-graph.mmd"].splitlines())
    assert all(each.count('"') in (0, 2) for each in mermaid)


MARKS = [
    "a",
    "b ",
    "#",
    "# ",
    "-",
    "- ",
    "1. ",
    "=",
    "===",
    "`",
    "```",
    "|",
    "[x](y)",
    "<b>",
    "*",
    "_",
    "~~",
    ">",
    "\\",
    "\n",
    "\r",
    "\u2028",
    "\x07",
]
TEXT = st.lists(st.sampled_from(MARKS), max_size=10).map("".join)


@given(TEXT)
@settings(max_examples=25, deadline=None)
def test_markdown_of_a_voice_opens_nothing(said: str) -> None:
    assert len(item(said).splitlines()) == 1
    bare = re.sub(r"\\.", "", line(said))
    assert not re.search(r"[`*\[\]<|~]", bare)
    assert not re.match(r"- (?:#+|[-+>]|\d+[.)])(?:\s|$)", item(said))
    for each in quote(said).splitlines():
        assert each.startswith(">")
        assert not re.match(r">\s*(?:#|={1,}$|(?:-\s*){2,}$|```|~~~|\|)", each)


def test_words_and_lists_stay_as_they_were_written() -> None:
    assert line("snake_case costs 7.5%, 3 > 2") == "snake_case costs 7.5%, 3 > 2"
    assert quote("- one\n  - **two**\n\n1. three") == "> - one\n>   - **two**\n>\n> 1. three"
    assert [item(each) for each in ("# x", "1. x", "- x", "-5 degrees", "1.5 x")] == [
        "- \\# x", "- 1\\. x", "- \\- x", "- -5 degrees", "- 1.5 x",
    ]  # fmt: skip
    assert quote("a\n===\nb\n---\n# c") == "> a\n> \\===\n> b\n> \\---\n> \\# c"


@given(st.text(max_size=40))
@settings(max_examples=25, deadline=None)
def test_no_text_leaves_its_label(said: str) -> None:
    assert not re.search(r'["\n;](?!$)|[<>&\[\]{}|`%\\]', re.sub(r"#\d+;", "", label(said)))
    assert "#" not in re.sub(r"#\d+;", "", label(said))


@pytest.mark.slow
@given(records())
@settings(max_examples=10, deadline=None)
def test_any_legal_record_has_its_files(record: DiscussionRecord) -> None:
    assert record.status == "open"
    paused = record.model_copy(update={"status": "paused"})
    files = artifacts(paused)
    assert files == artifacts(DiscussionRecord.model_validate_json(paused.model_dump_json()))
    assert Page(files["artifacts/discussion.html"]).open == []
