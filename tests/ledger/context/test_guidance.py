"""The experts' answers in context.md: round trip, the user's edits, and which question is the same question."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.domain.story import passing, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Guidance
from swarmgate.errors import UsageError
from swarmgate.ledger.context.context_file import BLOCKS
from swarmgate.ledger.context.domains import concerns
from swarmgate.ledger.context.guidance import (
    HEADING,
    ROOM,
    append,
    applying,
    bounded,
    facts,
    find,
    mistake_notices,
    mistakes,
    parse,
    read,
    render,
)
from swarmgate.ledger.context.questions import same
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

ENTRY = Guidance("Security", "How are tokens signed?", "With RS256.\n\nKeys rotate.", 2, "2.2", "2026-11-21")
OTHER = Guidance("PostgreSQL", "Which isolation level?", "Read committed.", 0, "", "2026-11-22")
CLOSED = ev.PhaseClosed(phase=1, summary="Parts are there.", decisions=("Use argon2",), lessons=())

LINES = st.text(st.characters(exclude_characters="<", exclude_categories=["Cs"]), min_size=1)
WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="<"), min_size=1).filter(str.strip)


@given(WORDS, WORDS, LINES, st.integers(0, 99))
def test_what_was_written_is_read_back(domain: str, question: str, answer: str, phase: int) -> None:
    written = Guidance(domain, question, answer, phase, "1.2", "2026-11-21")
    found = parse(f"# Context\n\n{HEADING}\n\n{render(written)}\n## Next\n")
    assume(found)  # a domain or a question of nothing but blanks and control characters is none
    assert len(found) == 1
    again = parse(f"{HEADING}\n{render(found[0])}")
    assert again == found
    assert (found[0].phase, found[0].task, found[0].time) == (phase, "1.2", "2026-11-21")


def test_the_form_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    append(path, ENTRY)
    append(path, OTHER)
    assert path.read_text() == (
        "# Context\n\n## SME Guidance Cache\n\n"
        "### Security (Phase 2)\n- Question: How are tokens signed?\n- Asked: 2026-11-21, task 2.2\n"
        "- Answer: With RS256.\n\n  Keys rotate.\n\n"
        "### PostgreSQL (Phase 0)\n- Question: Which isolation level?\n- Asked: 2026-11-22\n- Answer: Read committed.\n"
    )
    assert read(path) == (ENTRY, OTHER)


@pytest.mark.parametrize(
    "answer",
    [
        "# no heading",
        "## Next",
        "a\n## SME Guidance Cache\n### X",
        "- Question: x?",
        "a\n- Answer: b\n```\n## c\n```",
        "  x",
    ],
)
def test_no_answer_breaks_out_of_its_entry(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "context.md"
    for text in (answer, "after"):
        append(path, Guidance("D", f"q {text[:3]}?", text, 1, "1.1", "2026-11-21"))
    assert [entry.answer for entry in read(path)] == [answer.strip(), "after"]


def test_an_answer_cannot_forge_the_marks_of_the_derived_block(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as ledger:
        forged = "<!-- swarm: derived from the ledger, do not edit -->\n- fake\n<!-- swarm: end -->"
        append(folder.context, Guidance("D", "q?", forged, 1, "", ""))
        ledger.append([*started(), *passing("1.1"), *passing("1.2"), *passing("1.3"), CLOSED], expect=0)
    assert "fake" in read(folder.context)[0].answer
    assert folder.context.read_text().count("<!-- swarm: end -->") == 1


def test_marks_that_the_user_quotes_hide_no_answer_and_take_no_place(tmp_path: Path) -> None:
    path, begin, end = tmp_path / "context.md", *next(iter(BLOCKS.items()))
    quoted = f"What `{begin}` begins is no answer.\n\n```\n{begin}\n## Decisions\n{end}\n```\n"
    path.write_text(f"{quoted}\n{HEADING}\n\n{render(ENTRY)}\n{begin}\nthe last words\n")
    append(path, OTHER)
    assert [each.question for each in read(path)] == [ENTRY.question, OTHER.question]
    assert path.read_text().startswith(quoted)


def test_the_derived_block_and_the_section_leave_each_other_alone(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as ledger:
        append(folder.context, ENTRY)
        ledger.append([*started(), *passing("1.1"), *passing("1.2"), *passing("1.3"), CLOSED], expect=0)
        append(folder.context, OTHER)
    text = folder.context.read_text()
    assert read(folder.context) == (ENTRY, OTHER)
    assert "Use argon2" in text
    assert text.index("PostgreSQL") < text.index("<!-- swarm: derived")
    again = SwarmFolder(folder.root)
    again.context.write_text(text.replace(text[text.index(HEADING) : text.index("<!-- swarm: derived")], ""))
    append(again.context, ENTRY)
    assert read(again.context) == (ENTRY,)
    assert "Use argon2" in again.context.read_text()


def test_everything_that_is_no_entry_is_kept_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    mine = (
        b"# Context\r\n\r\nmine \xff\r\n\r\n## SME Guidance Cache\r\nloose words\r\n### Half\r\n- Question: no answer?"
        b"\r\n\r\n### Whole\r\nQuestion: why?\r\n**Answer:** because\r\nof that\r\n\r\n## Mine\r\n- x\r\n"
    )
    path.write_bytes(mine)
    assert read(path) == (Guidance("Whole", "why?", "because\nof that", 0, "", ""),)
    append(path, ENTRY)
    data = path.read_bytes()
    before, _, after = data.partition(b"### Security")
    assert mine.startswith(before.rstrip())
    assert mine.endswith(after[after.index(b"## Mine") :])
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert len(read(path)) == 2


def test_a_fence_in_an_answer_by_hand_may_hold_headings() -> None:
    answer = "```sh\n# comment\n## two\n```\nend"
    text = f"{HEADING}\n### D\n- Question: q?\n- Answer:\n{answer}\n## Next\n### D\n- Question: x\n- Answer: y\n"
    assert [entry.answer for entry in parse(text)] == [answer]


def test_several_questions_may_stand_under_one_domain() -> None:
    text = f"{HEADING}\n### D (phase 3)\n- Question: a?\n- Answer: 1\n- Question: b?\n- Answer: 2\n"
    assert [(e.question, e.answer, e.phase) for e in parse(text)] == [("a?", "1", 3), ("b?", "2", 3)]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert read(tmp_path / "none.md") == ()
    (tmp_path / "context.md").mkdir()
    with pytest.raises(UsageError, match=r"context\.md cannot be read"):
        read(tmp_path / "context.md")


SAME = [
    ("How are tokens signed?", "how are tokens signed"),
    ("How are tokens signed?", "How is a token signed"),
    ("Which hash for passwords?", "What hash for the passwords"),
    ("How should we sign JWT tokens?", "How should I sign our JWT tokens?"),
    ("What is the maximum session length?", "What's the maximum session lenght?"),
    ("Where are addresses of customers kept?", "Where are adresses of customers kept?"),
    ("How does authentication work?", "How does authentcation work?"),
    ("Why don't we retry writes?", "Why do we not retry writes"),
    ("When do tokens expire?", "When does a token expire?"),
    ("Which indexes does the table have?", "Which index does the table have?"),
    ("What's the C++ standard?", "Which is the C++ standard"),
]
OTHERS = [
    ("How to encrypt the session cookie data at rest?", "How to decrypt the session cookie data at rest?"),
    ("Should tokens be signed with RS256?", "Should tokens be signed with HS256?"),
    ("Should we cache user records in memory?", "Should we not cache user records in memory?"),
    ("Which hash for passwords?", "Which hash for file names?"),
    ("Which hash for passwords?", "What password hashing should be used?"),
    ("When do tokens expire?", "Why do tokens expire?"),
    ("How are tokens signed?", "How are tokens stored?"),
    ("Is Python 3.11 enough?", "Is Python 3.12 enough?"),
    ("How can they attack it?", "How can they attach it?"),
    ("Why don't we retry writes?", "Why do we retry writes?"),
    ("How?", "What?"),
    ("How are tokens stored?", "How are tokens stored in the browser?"),
    ("How long should access tokens live?", "How long should refresh access tokens live?"),
    ("How do we hash passwords?", "How do we hash passwords in tests?"),
    ("How do I convert local time to UTC?", "How do I convert UTC to local time?"),
    ("How do we migrate from MySQL to Postgres?", "How do we migrate from Postgres to MySQL?"),
    ("How do we validate contact data before saving?", "How do we validate contract data before saving?"),
    ("May session ids be logged?", "Must session ids be logged?"),
    ("Should session ids be logged?", "Can session ids be logged?"),
    ("Do we need to escape HTML output?", "How do we escape HTML output?"),
    ("Do we need to escape HTML output?", "Do we escape HTML output?"),
    ("How do we encrypt user files?", "How do we encrypt deleted user files?"),
    ("Where are uploads saved?", "Where are failed uploads saved?"),
    ("Should the client trust the server certificate?", "Should the server trust the client certificate?"),
    ("Is v1 API auth required?", "Is API auth required?"),
    ("What timeout for reads?", "What timeout for writes?"),
    ("How do we copy files to S3?", "How do we copy files from S3?"),
    ("Are the records sorted?", "Are the records stored?"),
    ("Is causal consistency enough?", "Is casual consistency enough?"),
    ("Where are compiled rules kept?", "Where are complied rules kept?"),
    ("Do we redirect https?", "Do we redirect http?"),
    ("Is the signed key kept?", "Is the signing key kept?"),
    ("Does it matter through retries?", "Does it matter thorough retries?"),
    ("Is x > 5 refused?", "Is x < 5 refused?"),
    ("Is a limit of -1 valid?", "Is a limit of 1 valid?"),
    ("What do we store?", "What do they store?"),
    ("Was the key rotated?", "Is the key rotated?"),
    ("Can users log in?", "Can users log in with tokens?"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_question_in_other_words_is_found(one: str, other: str) -> None:
    entry = Guidance("Web Security", one, "x", 1, "", "")
    assert find([entry], "web  SECURITY", other) is entry
    assert find([entry], "databases", one) is None


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_another_question_is_not(one: str, other: str) -> None:
    for asked, kept in ((one, other), (other, one)):
        assert not same(asked, kept)
        assert find([Guidance("D", kept, "x", 1, "", "")], "D", asked) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_question_is_itself_and_likeness_has_no_direction(one: str, other: str) -> None:
    assert same(one, one)
    assert same(one, other) == same(other, one)


def test_the_words_themselves_win_over_likeness_and_the_latest_over_the_first() -> None:
    first, second, third = (
        Guidance("D", question, answer, 1, "", "")
        for question, answer in (
            ("Which hash for passwords?", "a"),
            ("What hash for a password", "b"),
            ("what hash for a password?", "c"),
        )
    )
    assert find([first, second, third], "D", "which hash for passwords") is first
    assert find([first, second, third], "D", "what hash for a password") is third
    assert find([first, second, third], "D", "what hash for the password") is third


def test_what_applies_to_a_brief() -> None:
    entries = (ENTRY, OTHER)
    assert applying(entries, task="2.2", phase=9, text="") == (ENTRY,)
    assert applying(entries, task="2.9", phase=2, text="") == (ENTRY,)
    assert applying(entries, task="3.1", phase=3, text="Store it in PostgreSQL.") == (OTHER,)
    assert applying(entries, task="3.1", phase=3, text="Nothing of the kind") == ()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("### A\n- Question: x?\n- Answr: y\n", [(2, "no `- Answer:`"), (4, "`- Answr:` is no field")]),
        ("### A\n- Qestion: x?\n- Answer: y\n", [(2, "no `- Question:`"), (3, "`- Qestion:` is no field")]),
        ("### A\n- Question: x?\n- Answer:\n", [(2, "no `- Answer:`")]),
        ("### A\n- Question: x?\n- Answer:\n  y\n", []),
        ("### A\n- Question: x?\n- Answer = y\n", [(2, "no `- Answer:`"), (4, "`- Answer =` is no field")]),
        ("### A\n- Question: x?\n- Answer: y\n- Askd: 2026\n", [(5, "`- Askd:` is no field; `- Asked:` is")]),
        ("### A\n- Question: x?\n- Question: z?\n- Answer: y\n", [(2, "no `- Answer:`")]),
        ("- Question: x?\n- Answer: y\n", [(2, "no heading `### DOMAIN`")]),
        ("### A\n- Question: x?\n- Answer: y\n- Note: z\n```\n- Answr: z\n```\n", []),
        ("### A\n- Question: x?\n- Answer: y\n## Answers\n- Answr: not ours\n", []),
        ("\nWords of the user.\n", []),
    ],
)
def test_what_is_mistyped_is_named_with_its_line(body: str, said: list[tuple[int, str]]) -> None:
    found = mistakes(f"{HEADING}\n{body}")
    assert len(found) == len(said), found
    for (line, why), (expected, words) in zip(found, said, strict=True):
        assert (line, words in why) == (expected, True), found


def test_a_mistyped_heading_of_the_section_is_named() -> None:
    assert mistakes("## SME Guidance Cahce\n### A\n- Question: x?\n- Answer: y\n")[0][0] == 1
    assert mistakes("### SME guidance cache\n")[0][0] == 1
    assert mistakes("## Guidance for people\n") == ()


@given(WORDS, WORDS, LINES)
def test_what_swarmgate_writes_is_never_called_mistyped(domain: str, question: str, answer: str) -> None:
    written = f"{HEADING}\n\n{render(Guidance(domain, question, answer, 1, '1.2', '2026-11-21'))}"
    assume(parse(written))
    assert mistakes(written) == ()


STANDING = f"""# Context

{HEADING}

### Security (Phase 1)
- Use bcrypt with cost factor 12
* Never log tokens
  or what they are made of
1. Rates are limited.

Words of mine.

### API
- Question: Which status?
- Answer: 401:
- for failures

- Use RFC 7807 for errors  

- Question: x?
- Answr: x
"""  # noqa: W291 - trailing blanks are the user's too


def test_plain_bullets_are_standing_guidance() -> None:
    found = parse(STANDING)
    assert [(e.domain, e.answer, e.phase) for e in found if e.stands] == [
        ("Security", "Use bcrypt with cost factor 12", 1),
        ("Security", "Never log tokens\nor what they are made of", 1),
        ("Security", "Rates are limited.", 1),
        ("API", "Use RFC 7807 for errors", 0),
    ]
    assert [(e.question, e.answer) for e in found if not e.stands] == [("Which status?", "401:\n- for failures")]
    assert [why for _, why in mistakes(STANDING)] == [
        "the entry has no `- Answer:`, so it is not used",
        "`- Answr:` is no field; `- Answer:` is",
    ]
    assert facts(found).startswith("Security:\n- Use bcrypt with cost factor 12\n- Never log tokens\n  or what")


@pytest.mark.parametrize(
    ("heading", "read"),
    [
        ("Data stores (phase 2):", ("Data stores", 2)),
        ("Security & Privacy (PHASE 1: Foundation)", ("Security & Privacy", 1)),
        ("Sécurité (Phases 3-4)  ", ("Sécurité", 3)),
        ("API:", ("API", 0)),
        ("Clients (phased out)", ("Clients (phased out)", 0)),
    ],
)
def test_a_heading_names_its_domain_in_whatever_form_it_names_the_phase(heading: str, read: tuple[str, int]) -> None:
    (found,) = parse(f"{HEADING}\n### {heading}\n- Keep it.\n")
    assert (found.domain, found.phase) == read


def test_a_domain_with_prose_alone_is_named() -> None:
    (found,) = mistakes(f"{HEADING}\n### API\nErrors are RFC 7807.\n")
    assert found == (
        2,
        "nothing is read below the heading: a fact is `- FACT`, an answer `- Question:` and `- Answer:`",
    )


def test_standing_guidance_without_a_domain_is_named() -> None:
    assert parse(f"{HEADING}\n- Use bcrypt\n") == ()
    assert mistakes(f"{HEADING}\n- Use bcrypt\n")[0][0] == 2


@pytest.mark.parametrize("ending", ["", "\n", "  \n", "\n\n\n", "\r\n\r\n", "\n\n## Mine\n- x  \n\n\n"])
def test_an_answer_that_is_added_leaves_standing_guidance_byte_for_byte(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "context.md"
    mine = (STANDING.replace("- Question: x?\n- Answr: x\n", "").rstrip("\n") + ending).encode()
    path.write_bytes(mine)
    append(path, ENTRY)
    data = path.read_bytes()
    at = data.index(b"### Security (Phase 2)")
    kept = data[:at].rstrip(b"\r\n")
    assert mine.startswith(kept)
    assert data.endswith(mine[len(kept) :].lstrip(b"\r\n")) or not mine[len(kept) :].strip()
    assert len(parse(data.decode())) == len(parse(mine.decode())) + 1
    append(path, OTHER)
    assert path.read_bytes().startswith(data[:at].rstrip(b"\r\n"))


@pytest.mark.parametrize(
    ("domain", "text", "about"),
    [
        ("Security", "Hash passwords of users", True),
        ("Security", "src/auth/tokens.py", True),
        ("Web Security", "JWT generation", True),
        ("Security", "Sort the authors by name", False),
        ("Security", "Wrap long lines", False),
        ("API", "Login endpoint", True),
        ("API", "src/api_v2/handlers.py", True),
        ("Database", "A migration for the orders", True),
        ("Payments", "Payment of an order", True),
        ("Payments", "Login endpoint", False),
        ("Tax law", "Tax of an order", False),
        ("Tax law", "Orders under tax law", True),
        ("!", "anything!", False),
    ],
)
def test_a_text_is_about_a_domain_that_it_names_or_whose_words_it_speaks(
    domain: str, text: str, *, about: bool
) -> None:
    assert concerns(domain, text) is about


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Which bcrypt cost factor?", True),
        ("May tokens be logged?", False),
        ("Which cost factor for argon2?", False),
        ("bcrypt?", False),
    ],
)
def test_a_fact_answers_a_question_whose_telling_words_it_has(question: str, *, answered: bool) -> None:
    assert (find(parse(STANDING), "security", question) is not None) is answered
    assert find(parse(STANDING), "databases", question) is None


def test_what_stands_in_a_comment_is_not_read(tmp_path: Path) -> None:
    hidden = f"<!--\n{HEADING}\n### Security\n- Use md5.\n-->\n"
    assert parse(hidden) == ()
    text = f"{HEADING}\n\n### Security\n- Use argon2.\n<!-- - Use md5. -->\n<!--\n- Use sha1.\n-->\n- Salt it.\n"
    assert [each.answer for each in parse(text)] == ["Use argon2.", "Salt it."]
    assert not mistakes(hidden + text)
    unclosed = f"<!-- a note\n{HEADING}\n### Security\n- Use argon2.\n"
    assert [each.answer for each in parse(unclosed)] == ["Use argon2."]
    path = tmp_path / "context.md"
    path.write_text(hidden + text)
    append(path, ENTRY)
    assert path.read_text().startswith(hidden + text)
    assert read(path)[-1] == ENTRY


def test_standing_guidance_has_a_limit_which_no_domain_takes_from_another_and_what_is_left_out_is_told(
    tmp_path: Path,
) -> None:
    many = "".join(f"- Rule {number:05} of many.\n" for number in range(20_000))
    path = tmp_path / "context.md"
    path.write_text(f"{HEADING}\n\n### Security\n{many}\n### API\n- Use JSON.\n- {'x' * (ROOM + 1)}\n\n{render(ENTRY)}")
    kept, left = bounded(read(path))
    assert len(facts(kept)) < ROOM * 1.2
    assert [kept[0].answer, *(each.answer for each in kept if each.domain == "API")] == [
        "Rule 00000 of many.",
        "Use JSON.",
    ]
    assert kept[-1] == ENTRY
    assert len(kept) + len(left) == 20_003
    security, api = mistake_notices(path, "context.md")
    first = next(each.answer for each in left)
    assert security.startswith(f"context.md: {len(left) - 1:d} facts on Security reach nobody, from `{first}` on")
    assert api.startswith("context.md: 1 fact on API reaches nobody")
