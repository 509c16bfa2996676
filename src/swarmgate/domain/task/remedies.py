"""Lists the remedies of a blocked task by the stage that blocked it: user actions, and the effect of an override."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swarmgate.domain.review.stage import UNDECIDED, Judge, Stage, stopped_role
from swarmgate.domain.state.state import Attempt, Outcome, TaskRecord

BUDGET = "quality_budget"
"""The gate that the architect may overrule, where the user lets it."""

NEVER_OVERRIDDEN = frozenset({"secret_scan", "sast_scan", "syntax_check"})
"""Gates whose rejection nobody can overrule: a leaked secret, a vulnerability, or code that does not parse."""

_DIFF = Stage.of(Judge.GATES, "diff")
"""The gate that looks at the change as a whole."""
_NAMED = 5
_IN_LOOP = frozenset({"replies", "max_turns"})
"""Breakers whose bound stands in `[loop]`."""
_KEYS = {"wall_time": "wall_time_s"}
_ROLES = frozenset({"architect", "critic", "coder", "reviewer", "test_engineer", "sme"})

_SETTINGS: Mapping[Judge, tuple[str, ...]] = {
    Judge.TESTS: ("[tests] command: how the tests are run, where that is what fails",),
    Judge.INSTALLED: ("install the named packages anew, as the project says, then: {retry}",),
    Judge.PROVES_NOTHING: ('[tests] must_fail = "warn": such tests are noted and reject nothing, then: {retry}',),
    Judge.UNPROVEN: (
        "the kind of the task in plan.md, where it adds no behaviour: `Kind: refactoring` or its like, then: {retry}",
        '[tests] unproven = "warn": what no test shows is only noted, then: {retry}',
    ),
    Judge.OLD_TESTS: (
        "`Kind: breaking` in plan.md, where the task makes tests among its files wrong on purpose, then: {retry}",
        '[tests] altered = "warn": tests that fail in their old form are only noted, then: {retry}',
    ),
    Judge.SWITCHED_OFF: ('[tests] vanished = "warn": tests that are gone are only noted, then: {retry}',),
    Judge.SCOPE: (
        'swarm retry {task} --note "declare FILE, it is needed": have the files declared for the task',
        '[scope] max_outside: accept more files outside, or enforce = "warn": only note them, then: {retry}',
    ),
    Judge.ATTACKS: ('[tests] adversarial = "off": no attacks, then: {retry}',),
    Judge.SECURITY_REVIEWER: ('[review] security = "off": no security reviews, then: {retry}',),
    Judge.MUTATION: ("[tests] min_kill_rate: ask for less, or mutation = false: for nothing, then: {retry}",),
    Judge.ARCHITECT: ("another model in [roles.architect], then: {retry}",),
    Judge.COMMIT: ("what the hooks of the repository refuse, mended by you or by them, then: {retry}",),
    Judge.TRAJECTORY: (
        "another model in [roles.coder], or a task that says more, before the next attempt of the kind",
    ),
}
"""What may be changed, by stage; `{retry}` is the command that tries again."""

_OF_MODELS: Mapping[str, str] = {
    "the same over and over": "another model in {table} (this one repeats itself)",
    "was cut off": "a higher max_tokens in {table}, a larger window, or another model",
    "without a tool call": "`tools = false` in {table} (this model does not call tools), or another model",
    "reply is empty": "another model in {table} (this one answers nothing)",
}
"""What helps, by how the problem with the last reply reads (`agents.conversation.replies`); the first that fits."""

_MEANT: Mapping[Judge, str] = {
    Judge.INSTALLED: "; the tests run with what is installed now, and with what agents made of it",
    Judge.PROVES_NOTHING: "; meant for a refactoring, whose tests pass before it and after it",
    Judge.UNPROVEN: "; what no test shows is committed on your word",
    Judge.OLD_TESTS: "; what those tests expected counts no longer",
    Judge.SWITCHED_OFF: "; the tests that are gone stay gone",
    Judge.SCOPE: "; all files that the attempt changed are accepted",
    Judge.MUTATION: "; the tests stay as weak as they are",
}
"""What an override of a stage is for, or brings with it."""


def firm_gates(stage: Stage) -> frozenset[str]:
    """The gates in the stage of a rejection that nobody can overrule; empty when the user may."""
    return NEVER_OVERRIDDEN & stage.parts


def of_model(reason: str, role: str) -> str:
    """The remedy where the model gave no usable reply; empty where that is not the cause.

    Args:
        reason: why its turn ended, with the last problem of its replies.
        role: whose turn that was.
    """
    for sign, help_ in _OF_MODELS.items():
        if sign in reason:
            return help_.format(table=f"[roles.{role}]" if role in _ROLES else "[roles.ROLE]")
    return ""


def settings_for(task_id: str, stage: Stage, reason: str) -> tuple[str, ...]:
    """What the user may change before the task is tried again, a line each; empty where nothing is special.

    Args:
        task_id: the task.
        stage: what stopped it.
        reason: why, as the ledger has it.
    """
    retry = f"swarm retry {task_id}"
    if stage == UNDECIDED:
        return (f'another model as `advocate` or `challenger` in [review], or mode = "single", then: {retry}',)
    if stage.judge is Judge.BREAKER:
        breaker, role = "".join(stage.names), stopped_role(reason)
        table = "loop" if breaker in _IN_LOOP else f"breakers.roles.{role}" if role in _ROLES else "breakers"
        model = f"another model in [roles.{role}]" if role in _ROLES else "another model"
        message = f"{model}, or a higher `{_KEYS.get(breaker, breaker)}` in [{table}], then: {retry}"
        helps = of_model(reason, role)
        return (f"{helps}, then: {retry}", message) if helps else (message,)
    if stage.judge is Judge.GATES and stage != _DIFF:
        return tuple(f"swarm gates explain {gate}: what it wants, and how it is set" for gate in sorted(stage.names))
    known = _SETTINGS.get(stage.judge, ())
    return tuple(line.format(task=task_id, retry=retry) for line in known)


def no_override(attempt: Attempt | None) -> str:
    """Why an override is no way out after this attempt; empty when it is one."""
    if attempt is None or attempt.outcome is not Outcome.REJECTED:
        return "there is no rejection"
    if firm := firm_gates(attempt.stage):
        return f"a rejection by {', '.join(sorted(firm))} cannot be overridden"
    if attempt.stage.judge is Judge.BREAKER:
        return "nobody judged: the same role would be asked again"
    if attempt.stage == _DIFF and attempt.captured and not attempt.files:
        return "nothing was changed, so there is nothing to accept"
    return ""


def attack_files(record: TaskRecord) -> tuple[str, ...]:
    """The test files that broke the newest attempt which an attack rejected, since the user's last word on the task."""
    recent = (each for each in reversed(record.attempts) if each.number > record.renewed)
    attacked = next((each for each in recent if each.stage.judge is Judge.ATTACKS), None)
    return tuple(dict.fromkeys(r.file for r in attacked.feedback if r.file)) if attacked else ()


def removed_files(record: TaskRecord, stages: Iterable[Stage]) -> tuple[str, ...]:
    """The test files of an attack that leave the tree where these stages are overruled.

    All of them with the attack itself; with a run of the tests those that it failed by: the tests of an attack stay in
    the tree, and reject the attempts after it as well.
    """
    judges = {each.judge for each in stages}
    found = attack_files(record) if Judge.ATTACKS in judges else ()
    if Judge.TESTS in judges:
        failed = next((each.failures for each in reversed(record.attempts) if each.stage.judge is Judge.TESTS), ())
        attacks = dict.fromkeys((*attack_files(record), *sorted(record.attacks)))
        found += tuple(file for file in attacks if any(name.startswith(f"{file}::") for name in failed))
    return tuple(dict.fromkeys(found))


def override_means(record: TaskRecord) -> str:
    """What an override of the last rejection does beside what it says, as the end of a sentence; empty: nothing."""
    last = record.last
    if last is None:
        return ""
    files = removed_files(record, {last.stage})
    verb = "is" if len(files) == 1 else "are"
    text = f"; {_listed(files)} {verb} taken out again, into the quarantine" if files else ""
    if last.stage.judge is not Judge.TESTS:
        return text or _MEANT.get(last.stage.judge, "")
    left = tuple(name for name in last.failures if not name.startswith(tuple(f"{file}::" for file in files)))
    return text if files and not left else text + _red_tests(left)


def _red_tests(failures: tuple[str, ...]) -> str:
    """What it means to commit these failing tests."""
    if not failures:
        return "; the tests stay red, and each later task fails on them too: delete or mend them first"
    return (
        f"; it commits {_listed(failures)} as failing: delete or mend what is wrong first. "
        "Later tasks are not rejected for these names, and nobody sees what they would have shown"
    )


def override_line(task_id: str, record: TaskRecord) -> str:
    """The offer to overrule the last rejection, with what that means; empty where it is no way out."""
    last = record.last
    if last is None or no_override(last):
        return ""
    which = f"the rejection by {last.stage}"
    if record.block and record.block.stage != last.stage:
        which = f"the last rejection, by {last.stage} ({_short(last.reason)})"
    means = override_means(record)
    return f'swarm override {task_id} --reason "...": overrule {which}; all other stages judge again{means}'


def _short(text: str, size: int = 80) -> str:
    return text if len(text) <= size else f"{text[:size].rstrip()}..."


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
