r"""The guidance section of context.md: standing guidance, and cached expert answers that `ask_sme` reads first.

    ## SME Guidance Cache

    ### Security (Phase 1)
    - Passwords are hashed with argon2id.

    ### Security (Phase 2)
    - Question: How are tokens signed?
    - Asked: 2026-11-21, task 2.2
    - Answer: With RS256.

      Keys rotate every 90 days.

A bullet that is no field of an entry is a fact: it holds until somebody removes it, for all who work in its domain.
Behind an answer a fact begins after an empty line, since a list there may belong to the answer. What stands in an HTML
comment is not read.

The file is the truth about what holds: an edited answer is the next answer, a removed entry is asked again, an added
one is used. The event `GuidanceGiven` is the truth about what an expert once said, and nothing reads it to give
guidance, so the two cannot contradict each other. The section lies outside of the derived blocks of the file. swarmgate
only ever adds to it, so what cannot be read as an entry stays as it is; `mistakes` names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from swarmgate.domain.state.state import Guidance
from swarmgate.errors import UsageError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.context import context_file
from swarmgate.ledger.context.context_file import blocks, update
from swarmgate.ledger.context.domains import concerns
from swarmgate.ledger.context.questions import meaning, same, words
from swarmgate.ledger.views.describe import counted, first_line

HEADING = "## SME Guidance Cache"

_IS_HEADING = re.compile(r"##[ \t]+SME Guidance Cache[ \t]*$", re.IGNORECASE)
_DOMAIN = re.compile(r"###[ \t]+(?P<domain>.*?)[ \t]*(?:\((?i:phases?)[ \t]+(?P<phase>\d{1,9})\b[^()]*\))?:?[ \t]*$")
_OTHER_SECTION = re.compile(r"##?[ \t]")
_FIELD = re.compile(r"(?:[-*+][ \t]+)?(?:\*\*)?(question|asked|answer):(?:\*\*)?(?:[ \t]+|$)(.*)", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?P<fact>\S.*)")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029]")

_LABEL = re.compile(r"(?:[-*+][ \t]+)?(?:\*\*)?([A-Za-z]{3,12})(?:\*\*)?[ \t]*[:;=]")
"""What reads as the label of a field at the beginning of a line, spelled right or not; not indented as an answer is."""
_COMMENT = re.compile(r" {0,3}<!--")
_ANY_HEADING = re.compile(r"#{1,6}[ \t]*(?P<title>.*?)[ \t]*$")
_LABELS = ("question", "asked", "answer")
_NEEDED = ("question", "answer")
_FACT = "fact"
ROOM = 20_000
"""Characters of all standing guidance together: what every brief may have to hold."""
_TELLING = 2
"""Words that a question must have for a fact to answer it: one alone asks too much."""
_NEAR, _SAME_HEADING = 0.75, 0.8
"""How like a label, or the heading of the section, a text is that was meant to be it."""


def read(path: Path) -> tuple[Guidance, ...]:
    """Every entry of a context.md, in the order of the file; none when there is no file.

    Raises:
        UsageError: the file cannot be read.
    """
    return parse(_text(path))


def parse(text: str) -> tuple[Guidance, ...]:
    """Every entry of the section `## SME Guidance Cache`; what reads as none is passed over."""
    found: list[Guidance] = []
    domain, phase, fields = "", 0, dict[str, list[str]]()
    last, blank = "", False

    def close() -> None:
        entry = _entry(domain, phase, fields)
        found.extend([entry] if entry else [])
        fields.clear()

    for line, content in _section_lines(text):
        if not content and (heading := _DOMAIN.fullmatch(line)):
            close()
            domain, phase, last = _one_line(heading["domain"]), int(heading["phase"] or 0), ""
        elif not content and (match := _FIELD.fullmatch(line)):
            if match[1].lower() == "question" or last == _FACT:
                close()
            last = match[1].lower()
            fields[last] = [match[2]]
        elif not content and (fact := _fact(line, last, blank=blank)):
            close()
            last, fields[_FACT] = _FACT, [fact]
        elif last == _FACT and blank and line.strip() and not line[0].isspace():
            last = ""  # a paragraph of its own
        elif last:
            fields[last].append(line.removeprefix("  "))
        blank = not line.strip()
    close()
    return tuple(found)


def _fact(line: str, last: str, *, blank: bool) -> str:
    """The fact that a line states; empty where it states none.

    Args:
        line: of the section, outside of code fences.
        last: the field, or fact, that the lines before it belong to; empty for none.
        blank: whether the line before it is empty.
    """
    bullet = _BULLET.fullmatch(line)
    if bullet is None or not re.search(r"\w", bullet["fact"]) or (last not in ("", _FACT) and not blank):
        return ""
    label = _LABEL.match(line)
    return "" if label and _meant(label[1]) else bullet["fact"]


def mistakes(text: str) -> tuple[tuple[int, str], ...]:
    """What in the section, or in a heading that is nearly its own, reads as no entry: the line, from 1, and why."""
    found: list[tuple[int, str]] = []
    entry, blank = _Written(), False
    for number, (_, line, inside, fenced) in enumerate(_walk(text), start=1):
        if inside and fenced:
            entry.goes_on(line)
        elif inside and (heading := _DOMAIN.fullmatch(line)):
            found += entry.mistakes()
            entry = _Written(number, _one_line(heading["domain"]))
        elif inside and (known := _FIELD.fullmatch(line)):
            if entry.last == _FACT or (known[1].lower() == "question" and entry.fields):
                found += entry.mistakes()
                entry = _Written(number, entry.domain)
            entry.has(number, known[1].lower(), known[2])
        elif inside and (label := _LABEL.match(line)) and (near := _meant(label[1])):
            entry.wrong(number, f"`{label[0].strip()}` is no field; `- {near.capitalize()}:` is")
        elif inside and (fact := _fact(line, entry.last, blank=blank)):
            found += entry.mistakes() if entry.fields or entry.odd else []
            entry = _Written(number, entry.domain, {_FACT: fact}, last=_FACT)
        elif inside:
            entry.goes_on(line)
        elif not fenced and _nearly_the_heading(line):
            found.append((number, f"`{line.strip()}` is not read: the heading is `{HEADING}`"))
        blank = not line.strip()
    return tuple(sorted([*found, *entry.mistakes()]))


@dataclass
class _Written:
    """An entry as a hand may have written it: the line that it begins on, and what of it was read."""

    begun: int = 0
    domain: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    odd: list[tuple[int, str]] = field(default_factory=list)
    last: str = ""

    def has(self, number: int, label: str, text: str) -> None:
        """A field of the entry."""
        self.begun = self.begun or number
        self.fields[label], self.last = text, label

    def wrong(self, number: int, why: str) -> None:
        """A line that looks like a field and is none."""
        self.begun = self.begun or number
        self.odd.append((number, why))

    def goes_on(self, line: str) -> None:
        """A further line of the field before it."""
        if self.last:
            self.fields[self.last] += f" {line}"

    def mistakes(self) -> list[tuple[int, str]]:
        """What keeps the entry from being used, then the lines that look like a field."""
        needed = () if _FACT in self.fields else _NEEDED
        missing = [f"`- {name.capitalize()}:`" for name in needed if not self.fields.get(name, "").strip()]
        if self.begun and not (self.fields or self.odd):
            why = "nothing is read below the heading: a fact is `- FACT`, an answer `- Question:` and `- Answer:`"
        elif self.begun and missing:
            why = f"the entry has no {' and no '.join(missing)}, so it is not used"
        elif self.begun and not self.domain:
            why = "no heading `### DOMAIN` stands above the entry, so it is not used"
        else:
            return self.odd
        return [(self.begun, why), *self.odd]


def _nearly_the_heading(line: str) -> bool:
    heading = _ANY_HEADING.fullmatch(line)
    if heading is None or _IS_HEADING.match(line):
        return False
    return bool(
        get_close_matches(heading["title"].lower(), [HEADING.removeprefix("## ").lower()], cutoff=_SAME_HEADING)
    )


def _meant(label: str) -> str:
    return next(iter(get_close_matches(label.lower(), _LABELS, cutoff=_NEAR)), "")


def mistake_notices(path: Path, location: str) -> tuple[str, ...]:
    """The mistakes in a context.md, for people: `.swarm/context.md line 12: ...`; none where it cannot be read.

    So are the facts that reach nobody because there are too many: how many of each domain, and the first of them.
    """
    try:
        text = _text(path)
    except UsageError:
        return ()
    left: dict[str, list[str]] = {}
    for each in bounded(parse(text))[1]:
        left.setdefault(each.domain, []).append(first_line(each.answer))
    told = [f"{location} line {number}: {why}" for number, why in mistakes(text)]
    told += [
        f"{location}: {counted(len(facts), 'fact')} on {domain} reach{'es' if len(facts) == 1 else ''} nobody, from "
        f"`{facts[0]}` on: all of them together have room for {ROOM:,} characters. Take out or shorten what is obvious"
        for domain, facts in left.items()
    ]
    return tuple(told)


def render(entry: Guidance) -> str:
    """An entry as it stands in the file; `parse` reads it back."""
    asked = ", ".join(filter(None, (_one_line(entry.time), f"task {_one_line(entry.task)}" if entry.task else "")))
    answer = _plain(entry.answer).split("\n")
    lines = [
        f"### {_one_line(entry.domain)} (Phase {entry.phase})",
        f"- Question: {_one_line(entry.question)}",
        *([f"- Asked: {asked}"] if asked else []),
        f"- Answer: {answer[0]}",
        *(f"  {line}" if line else "" for line in answer[1:]),
    ]
    return "\n".join(lines) + "\n"


def append(path: Path, entry: Guidance) -> None:
    """Adds an entry at the end of the section, which is made where it is missing. Nothing else of the file changes.

    Raises:
        LedgerWriteFailed: the disk refused.
        UsageError: the file cannot be read.
    """
    _text(path)  # what cannot be read is told as that
    with writing(path):
        update(path, lambda old: _with(_decoded(old), render(entry)).encode("utf-8", "surrogateescape"), precious=True)


def find(entries: Iterable[Guidance], domain: str, question: str) -> Guidance | None:
    """The entry of the domain that answers the question, in these or in other words; the latest of equals.

    Where nobody asked it, a fact answers it that has all its telling words.
    """
    wanted, asked = words(domain), words(question)
    own = [entry for entry in entries if words(entry.domain) == wanted]
    found = [entry for entry in own if entry.question and same(entry.question, question)]
    telling = set(meaning(asked))
    facts = [each for each in own if each.stands and telling <= set(meaning(words(each.answer)))]
    answered = max(reversed(found), key=lambda entry: words(entry.question) == asked, default=None)
    return answered or (facts[-1] if facts and len(telling) >= _TELLING else None)


def applying(entries: Iterable[Guidance], *, task: str, phase: int, text: str) -> tuple[Guidance, ...]:
    """The entries that a brief should hold: asked for this task or in this phase, or of a domain that it is about.

    Args:
        entries: as `read` gives them.
        task: the id of the task of the brief.
        phase: its phase.
        text: what the task is about: title, description, criteria, files.
    """

    def applies(entry: Guidance) -> bool:
        if (entry.task and entry.task == task) or (entry.phase and entry.phase == phase):
            return True
        return concerns(entry.domain, text)

    return tuple(entry for entry in entries if applies(entry))


def bounded(entries: Iterable[Guidance]) -> tuple[tuple[Guidance, ...], tuple[Guidance, ...]]:
    """The entries without the standing guidance for which there is no `ROOM`, and that.

    The domains take turns, each with its facts in the order of the file, so that a long one crowds no other out.
    """
    given = tuple(entries)
    turns: dict[str, int] = {}
    ranked = []
    for place, each in enumerate(given):
        if each.stands:
            turns[each.domain] = turn = turns.get(each.domain, 0) + 1
            ranked.append((turn, place))
    room, left = ROOM, set[int]()
    for _, place in sorted(ranked):
        size = len(given[place].answer)
        if size > room:
            left.add(place)
        else:
            room -= size
    kept = tuple(each for place, each in enumerate(given) if place not in left)
    return kept, tuple(given[place] for place in sorted(left))


def facts(entries: Iterable[Guidance]) -> str:
    """The standing guidance among the entries, as a list under each domain, in the order of the file."""
    domains: dict[str, list[str]] = {}
    for each in entries:
        if each.stands:
            domains.setdefault(each.domain, []).append("- " + each.answer.replace("\n", "\n  "))
    return "\n\n".join("\n".join((f"{domain}:", *lines)) for domain, lines in domains.items())


def _entry(domain: str, phase: int, fields: dict[str, list[str]]) -> Guidance | None:
    """The entry that was read; None when the domain, or what it has to say, is missing."""
    text = {name: "\n".join(lines) for name, lines in fields.items()}
    if domain and _FACT in text:
        return Guidance(domain, "", _plain(text[_FACT]), phase, "", "")
    question, answer = _one_line(text.get("question", "")), _plain(text.get("answer", ""))
    if not (domain and question and answer):
        return None
    asked = [part.strip() for part in _one_line(text.get("asked", "")).split(",")]
    task = next((part.removeprefix("task ").strip() for part in asked if part.startswith("task ")), "")
    time = next((part for part in asked if part and not part.startswith("task ")), "")
    return Guidance(domain, question, answer, phase, task, time)


def _section_lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of the section, without those of the derived blocks; and whether a line is inside of a code fence."""
    for _, line, inside, content in _walk(text):
        if inside:
            yield line, content


def _walk(text: str) -> Iterator[tuple[int, str, bool, bool]]:
    """Each line: where it ends, its text, whether it belongs to the section's content, whether a fence holds it."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    derived = {number for block in blocks(text) for number in range(block.first, block.last + 1)}
    inside = False
    fence_until = comment_until = -1
    end = 0
    for number, raw in enumerate(lines):
        end += len(raw)
        line = raw.rstrip("\r\n")
        fenced = number <= fence_until
        if number in derived:
            inside = False
            yield end, "", False, False  # what looks like our heading in there is none
            continue
        if number > comment_until and not fenced and _COMMENT.match(line):
            comment_until = next((n for n in range(number, len(lines)) if "-->" in lines[n]), -1)
        if number <= comment_until:
            yield end, "", inside, False
            continue
        if not fenced and line.startswith("```"):
            fence_until = next((n for n in range(number + 1, len(lines)) if lines[n].startswith("```")), -1)
            fenced = fence_until > number
        if not fenced and _OTHER_SECTION.match(line):
            inside = bool(_IS_HEADING.match(line))
            yield end, line, False, False
            continue
        yield end, line, inside, fenced


def _with(text: str, entry: str) -> str:
    """The text with an entry at the end of the first section of that name, or of a new one before derived blocks."""
    newline = "\r\n" if "\r\n" in text else "\n"
    at, seen = 0, False
    for end, line, inside, _ in _walk(text):
        if _IS_HEADING.match(line) and not seen and not inside:
            at, seen = end, True
        elif seen and inside:
            at = end if line.strip() else at
        elif seen:
            break
    if not seen:
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        at = next((len("".join(lines[: block.first])) for block in blocks(text)), len(text))
        entry = f"{HEADING}\n\n{entry}"
    before, after = text[:at], text[at:]
    gap = "" if not before.strip() or re.search(r"\n[ \t]*\r?\n\Z", before) else newline
    gap = newline + gap if before and not before.endswith("\n") else gap
    tail = newline if after.strip() and not re.match(r"[ \t]*\r?\n", after) else ""
    return f"{before}{gap}{entry.replace(chr(10), newline)}{tail}{after}"


def _text(path: Path) -> str:
    return _decoded(context_file.read(path))


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _plain(text: str) -> str:
    """Lines that end in a newline, without trailing blanks; nothing that looks like a mark of the derived block."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n").replace("<!--", "<!\u200b--")
    return "\n".join(line.rstrip() for line in _CONTROLS.sub(" ", unix).split("\n")).strip()


def _one_line(text: str) -> str:
    return " ".join(_plain(text).split())
