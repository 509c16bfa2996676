"""Renders the handoff page in at most `LINES` lines, purely.

Words of people and models stay words: none of them can make a heading of the page.
"""

from __future__ import annotations

from swarmgate.domain.base import Frozen
from swarmgate.domain.text.markdown import code, inline, prose

MARK = "<!-- swarm: a handoff page; swarm handoff writes it anew -->"
"""The first line of a page: what begins otherwise is no page of ours, and is not replaced."""
LINES = 120
"""Longest page."""
_GOAL_LINES, _ITEMS, _ROLES = 5, 6, 9


class HandoffRole(Frozen):
    """Who speaks as a role.

    `models`: first choice first; `addresses`: of what serves them; `keys`: the names of the variables that hold keys.
    """

    role: str
    models: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


class Failure(Frozen):
    """A task that is not mended: `stage` and `reason` of what stands against it."""

    task: str
    title: str
    status: str
    stage: str = ""
    reason: str = ""


class Handoff(Frozen):
    """`swarm handoff --json`: what the page says, the page itself, and where it was written.

    `tasks` counts by status. `paused` says why the last run ended before the work did, `preflight` what the newest look
    at the current phase found, where it did not pass. `quarantined` are hand edits that were refused, as long as the
    files lie there that keep them. `budgets` and `used` are lines for people. `settings_problem` says why the settings
    cannot be read, where they cannot. What looks like a key is masked.
    """

    goal: str
    source: str = ""
    title: str = ""
    phase: str = ""
    tasks: dict[str, int]
    branch: str = ""
    commit: str = ""
    seq: int
    waiting: str = ""
    working: str = ""
    paused: str = ""
    preflight: str = ""
    questions: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    quarantined: tuple[str, ...] = ()
    used: str = ""
    budgets: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    test_command: str = ""
    roles: tuple[HandoffRole, ...] = ()
    settings_problem: str = ""
    risks: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    path: str = ""
    page: str = ""


def render(handoff: Handoff) -> str:
    """The page."""
    sections: tuple[tuple[str, list[str]], ...] = (
        ("State", _state(handoff)),
        (
            "Decisions",
            [*(f"- Open: {inline(text)}" for text in handoff.questions[:_ITEMS]), *_items(handoff.decisions)],
        ),
        ("Guidance from experts", _items(handoff.guidance)),
        ("Open failures", _failures(handoff)),
        ("Budget", [f"- Used: {handoff.used}", *_items(handoff.budgets)]),
        ("Next step", [f"- {_command(text)}" for text in handoff.next[:_ITEMS]]),
        ("How to run", _running(handoff)),
        ("Known risks", [*_items(handoff.risks), *_items(tuple(f"drift: {text}" for text in handoff.drift))]),
        ("Where to read more", _MORE),
    )
    goal = prose(handoff.goal, _GOAL_LINES) or ["No goal was set yet."]
    lines = [MARK, "", f"# Handoff: {inline(handoff.title or 'no plan yet', 120)}", "", *goal]
    lines += ["", f"Specification: {code(handoff.source)}, as the ledger holds it"] if handoff.source else []
    for title, body in sections:
        if body:
            lines += ["", f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


_MORE = [
    "- `swarm status`, `swarm show TASK`, `swarm history`, `swarm failures`: where it stands, and how it came to it",
    "- `swarm evidence [TASK] --summary`: what proves each attempt; `swarm verify`: whether the record holds",
    "- `.swarm/plan.md`, `.swarm/context.md`, `.swarm/history/phase-N.md`: the plan, decisions, what was built",
]


def _items(texts: tuple[str, ...]) -> list[str]:
    """The newest of them as a list, which says how many are not there."""
    left = len(texts) - _ITEMS
    more = [f"- {left} older ones: `.swarm/context.md`"] if left > 0 else []
    return [*(f"- {inline(text)}" for text in texts[-_ITEMS:]), *more]


def _state(handoff: Handoff) -> list[str]:
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in handoff.tasks.items()) or "none yet"
    rows = (
        ("Phase", inline(handoff.phase)),
        ("Tasks", counts),
        ("Branch", code(handoff.branch).replace("|", "\\|") if handoff.branch else ""),
        ("Last commit", code(handoff.commit) if handoff.commit else ""),
        ("Ledger position", str(handoff.seq)),
        ("Waits for", handoff.waiting.replace("_", " ")),
        ("At work", inline(handoff.working)),
        ("Paused", inline(handoff.paused)),
        ("Preflight", inline(handoff.preflight, 600)),
    )
    return ["| what | now |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows if value)]


def _failures(handoff: Handoff) -> list[str]:
    listed = handoff.failures[:_ITEMS]
    lines = [
        f"- Task {each.task}, {inline(each.title, 80)}, {each.status.replace('_', ' ')}"
        f"{f' ({inline(each.stage)})' if each.stage else ''}: {inline(each.reason)}"
        for each in listed
    ]
    left = len(handoff.failures) - len(listed)
    lines += [f"- {left} more: `swarm failures`"] if left > 0 else []
    lines += [f"- Refused edit: {inline(text)}" for text in handoff.quarantined[-_ITEMS // 2 :]]
    return [*lines, "- A refused edit is settled by deleting the file that keeps it"] if handoff.quarantined else lines


def _command(text: str) -> str:
    """`swarm run: go on` with the command as code; what is no command stays words."""
    command, colon, what = text.partition(": ")
    if not command.startswith(("swarm ", "git ")):
        return inline(text)
    return f"{code(command)}: {inline(what)}" if colon else code(command)


def _running(handoff: Handoff) -> list[str]:
    lines = [f"- {code(line)}" for line in handoff.setup]
    lines.append(f"- Tests: {code(handoff.test_command)}" if handoff.test_command else "- Tests: no command is known")
    if handoff.settings_problem:
        return [*lines, f"- The settings cannot be read: {inline(handoff.settings_problem)}"]
    for each in handoff.roles[:_ROLES]:
        places = f" at {', '.join(map(code, each.addresses[:4]))}" if each.addresses else ""
        keys = f"; keys in {', '.join(map(code, each.keys))}" if each.keys else ""
        lines.append(f"- Role {each.role}: {', '.join(map(code, each.models[:4]))}{places}{keys}")
    return lines if handoff.roles else [*lines, "- No model is set yet: `[roles.default]` in `.swarm/config.toml`"]
