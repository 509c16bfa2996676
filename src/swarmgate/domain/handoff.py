"""The handoff: one page that lets a person or another architect go on. Rendered purely; at most `LINES` lines.

Words of people and models stay words: none of them can make a heading of the page.
"""

from __future__ import annotations

from swarmgate.domain.base import Frozen
from swarmgate.domain.markdown import code, inline, prose

LINES = 120
"""Longest page."""
_GOAL_LINES, _ITEMS, _ROLES = 5, 6, 9


class HandoffRole(Frozen):
    """Who speaks as a role: its models, first choice first, and the names of the variables that hold their keys."""

    role: str
    models: tuple[str, ...]
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

    `tasks` counts by status. `quarantined` are hand edits that were refused and are kept. `budgets` and `used` are
    lines for people. `settings_problem` says why the settings cannot be read, where they cannot.
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
    lines = [f"# Handoff: {inline(handoff.title or 'no plan yet', 120)}", "", *goal]
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
    )
    return ["| what | now |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows if value)]


def _failures(handoff: Handoff) -> list[str]:
    shown = handoff.failures[:_ITEMS]
    lines = [
        f"- Task {each.task}, {inline(each.title, 80)}, {each.status.replace('_', ' ')}"
        f"{f' ({inline(each.stage)})' if each.stage else ''}: {inline(each.reason)}"
        for each in shown
    ]
    left = len(handoff.failures) - len(shown)
    lines += [f"- {left} more: `swarm failures`"] if left > 0 else []
    return [*lines, *(f"- Refused edit: {inline(text)}" for text in handoff.quarantined[-_ITEMS // 2 :])]


def _command(text: str) -> str:
    """`swarm run: go on` with the command as code."""
    command, colon, what = text.partition(": ")
    return f"{code(command)}: {inline(what)}" if colon else code(command)


def _running(handoff: Handoff) -> list[str]:
    lines = [f"- {code(line)}" for line in handoff.setup]
    lines.append(f"- Tests: {code(handoff.test_command)}" if handoff.test_command else "- Tests: no command is known")
    if handoff.settings_problem:
        return [*lines, f"- The settings cannot be read: {inline(handoff.settings_problem)}"]
    for each in handoff.roles[:_ROLES]:
        keys = f"; keys in {', '.join(map(code, each.keys))}" if each.keys else ""
        lines.append(f"- Role {each.role}: {', '.join(map(code, each.models[:4]))}{keys}")
    return lines if handoff.roles else [*lines, "- No model is set yet: `[roles.default]` in `.swarm/config.toml`"]
