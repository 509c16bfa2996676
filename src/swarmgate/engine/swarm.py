"""The public facade `Swarm`: every command of `swarm`, for programs.

from swarmgate.engine import Swarm

swarm = Swarm(Path("my-repo"))
await swarm.plan("Build JWT auth")
swarm.approve()
outcome = await swarm.run()
"""

# ruff: noqa: PLC0415 - late, for start-up time: each verb brings the rooms that it needs

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate import assets
from swarmgate.domain.actor import USER
from swarmgate.domain.events.event import (
    Event,
    GoalAbandoned,
    GoalSet,
    LedgerAdopted,
    LedgerRestored,
    LocksRemoved,
    PhaseApproved,
    PhaseOverridden,
    PhaseRetried,
    PlanApproved,
    QuestionAnswered,
    RejectionOverridden,
    RevisionRequested,
    TaskReopened,
    TaskRetried,
    TaskSkipped,
    TaskUndone,
)
from swarmgate.domain.next_step import (
    Waiting,
    approval_due,
    needs_person,
    next_step,
    question_at_work,
    waiting_for,
)
from swarmgate.domain.operations import Operation, operation
from swarmgate.domain.progress import Listener, silent
from swarmgate.domain.state.phase_verdict import judged_stage, phase_number
from swarmgate.domain.state.state import Planning, State, TaskStatus
from swarmgate.domain.state.unattended import ATTENDED, Unattended, Until, rules_of
from swarmgate.engine.reports.outcome import RunOutcome, actions, outcome_of
from swarmgate.engine.reports.status import (
    HistoryLine,
    RoleModel,
    StatusReport,
    TaskReport,
    history_lines,
    status_report,
    task_report,
)
from swarmgate.errors import IllegalMove, NotAProject, SwarmError, UsageError
from swarmgate.journal.lock import at_work, describe
from swarmgate.ledger.files import live_breakers, live_progress, status_file
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.publication import LOCAL, Publication
from swarmgate.project import Project
from swarmgate.workspace.files.folders import make

if TYPE_CHECKING:
    from swarmgate.automation.facade import Automation
    from swarmgate.config import Config
    from swarmgate.council.critique.program_checks import Programs
    from swarmgate.council.facade import Council
    from swarmgate.domain.spending.cost import CostReport
    from swarmgate.domain.usage import Usage
    from swarmgate.engine.pull_request.opening import PullRequest
    from swarmgate.engine.reports.failures import FailureGroup
    from swarmgate.engine.reports.goal_page.page import GoalReport
    from swarmgate.engine.reports.models import ModelsReport
    from swarmgate.ledger.check import Check
    from swarmgate.ledger.files.live_progress import LiveRun
    from swarmgate.workspace.git.repository import Repository

_MEND_SETTINGS = (
    "mend the settings: no command that works can begin before",
    "swarm doctor: see all that is wrong with them; swarm doctor --fix mends what is clear",
)
_MEND_HISTORY = (
    "first bring branch and ledger in step, as `history:` says: no run and no approval of a phase goes on before"
)


class Swarm:
    """One project.

    Args:
        start: any folder inside the repository.
        listener: told about progress.
        environ: where keys and `SWARM_*` settings are looked up; the process's environment by default.
        flags: settings that win over files and environment, nested as in config.toml.
        actor: who decides what is decided with this object, as the ledger names them: `user`, or `user:ada`.
        expect: the ledger position that this is based on: where it has moved on, a decision raises `StaleWriter`.
        publication: hears of everything that is recorded in the ledger; nobody does by default.
    """

    def __init__(
        self,
        start: str | Path | None = None,
        *,
        listener: Listener = silent,
        environ: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
        actor: str = USER,
        expect: int | None = None,
        publication: Publication = LOCAL,
    ) -> None:
        self.project = Project(
            (Path.cwd() if start is None else Path(start)).resolve(),
            listener,
            os.environ if environ is None else environ,
            flags or {},
            actor,
            expect,
            publication,
        )
        self._interrupt: Callable[[], None] | None = None
        self._notify: Callable[[str, str], None] | None = None

    @property
    def folder(self) -> SwarmFolder:
        """The project's `.swarm/`; raises `NotAProject` where there is none."""
        return self.project.folder

    @property
    def config(self) -> Config:
        """The merged settings; raises `ConfigError`."""
        return self.project.config

    @property
    def state(self) -> State:
        """The fold over the ledger as it is now."""
        return self.project.state

    @cached_property
    def council(self) -> Council:
        """Debates, dispatched tasks and swarm chats."""
        from swarmgate.council.facade import Council

        return Council(self.project, _programs)

    @cached_property
    def automation(self) -> Automation:
        """Plan sync, preflight, hooks, the doctor's mending, evidence, drift, handoff."""
        from swarmgate.automation.facade import Automation
        from swarmgate.engine.automation_ports import EnginePorts

        return Automation(self.project, EnginePorts())

    # --- planning ---

    async def plan(
        self, goal: str = "", *, spec: str = "", source: str = "", answers: Mapping[int, str] | None = None
    ) -> RunOutcome:
        """Plans a goal (or goes on with one that waits for answers) until it is the user's turn.

        Raises:
            IllegalMove: work on the present plan has begun, or a number in `answers` names no question.
            SwarmError: as `run`.
        """
        events: list[Event] = [
            QuestionAnswered(number=number, answer=answer) for number, answer in (answers or {}).items()
        ]
        if goal:
            events = [GoalSet(goal=goal, spec=spec, source=source)]
            if answers:
                raise UsageError("Answers belong to the goal that is being planned; give no new goal with them.")
        elif not events and self.state.planning in (Planning.NONE, Planning.APPROVED):
            raise UsageError("There is no goal to plan.", hint='Say what is wanted: swarm plan "Build JWT auth"')
        return await self._work(events)

    async def revise(self, text: str) -> RunOutcome:
        """Has the architect change the plan as the user says, and the critic review it.

        Raises:
            IllegalMove: there is no plan.
            SwarmError: as `run`.
        """
        return await self._work([RevisionRequested(text=text)])

    def approve(self) -> tuple[str, ...]:
        """Approves what waits for the user: the plan, or the phase checkpoint. Returns what was approved, in words.

        Raises:
            IllegalMove: nothing waits for approval.
            CommitLost: the commit of a completed task is not in the branch any more.
        """
        with self.project.writing() as ledger:
            state = ledger.state
            match waiting_for(state):
                case Waiting.PLAN_APPROVAL:
                    events: list[Event] = [PlanApproved()]
                    words = ["the plan"]
                case Waiting.PLANNING_FAILED if state.plan is not None:
                    events, words = [PlanApproved()], ["the plan as it stands, without the revision"]
                case Waiting.PHASE_APPROVAL:
                    from swarmgate.engine.branch_history import standing

                    self._require_tested(ledger)
                    events = [*standing(state, self.folder.root), PhaseApproved(phase=state.current_phase)]
                    words = [f"phase {state.current_phase}"]
                case other:
                    raise IllegalMove("Nothing waits for your approval.", hint="; ".join(actions(state, other)))
            status_file.refresh(self.folder, ledger.append(events, expect=state.seq, actor=self.project.actor))
            return tuple(words)

    def _require_tested(self, ledger: Ledger) -> None:
        """Has the phase tested anew where the branch has moved on since its tests ran.

        Raises:
            IllegalMove: it has; the phase waits for its tests now.
        """
        from swarmgate.engine.steps.completion.phase_tests import tested_before

        state = ledger.state
        if not (ran := tested_before(state, self.project.repository())):
            return
        events = [PhaseRetried(phase=state.current_phase)]
        status_file.refresh(self.folder, ledger.append(events, expect=state.seq, actor=self.project.actor))
        raise IllegalMove(
            f"The tests of phase {state.current_phase} ran over commit {ran[:12]}; the branch has moved on.",
            hint="Have them run over what it holds now: swarm run",
        )

    # --- work ---

    async def run(
        self, *, stash: bool = False, wait: bool = False, until: Until | None = None, attended: bool = False
    ) -> RunOutcome:
        """Works task by task until it is the user's turn.

        Args:
            stash: put uncommitted changes aside instead of refusing to start.
            wait: wait for the end of a model's limit however long that takes, and not as `[loop] wait_limit` says.
            until: how far it goes; None: as `[approve] auto` says.
            attended: somebody is there to answer questions, whatever `[ask] wait` says.

        Raises:
            DirtyTree, WorkspaceError: the repository cannot be worked on as it is.
            LedgerLocked: another run is going on.
            BudgetExhausted, ModelError, MissingRequirement: the work is paused, and the next run goes on from there.
            LimitReached: the same; the end of a model's limit is too far away to wait for.
            Stopped: the user asked for it.
        """
        approve = self.config.approve
        rules = rules_of(approve.auto, approve.phases_in_a_row, until)
        return await self._work([], stash=stash, needs_tree=True, waits=wait, unattended=rules, attended=attended)

    def interrupt(self) -> None:
        """Asks the run of this object to end at the next safe point. Safe to call from a signal handler."""
        if self._interrupt is not None:
            self._interrupt()

    def notice(self, text: str) -> None:
        """Tells the listener something that the user should know, with clock and usage of the run that is on."""
        if self._notify is not None:
            self._notify("notice", text)
        else:
            self.project.notice(text)

    def stop(self) -> str:
        """Asks a run in another process to end at the next safe point; returns who that is, empty if nobody works."""
        owner = at_work(self.folder.lock)
        if not owner:
            return ""
        make(self.folder.stop_request.parent)
        self.folder.stop_request.touch()
        return describe(owner)

    def answer(self, number: int, text: str = "", *, option: int = 0, decline: bool = False) -> None:
        """Answers a question of an agent or of the architect; the next run goes on with it. Keys are masked.

        Args:
            number: of the question.
            text: the answer, or what is to be said to an option.
            option: which of its options, from 1; 0: none.
            decline: leave it to whoever asked.

        Raises:
            UsageError: there is nothing said, or both an answer and that there is none.
            IllegalMove: there is no such question or option, or it is not open any more.
        """
        if decline == bool(text.strip() or option) or option < 0:
            raise UsageError(
                "An answer is a text, an option, or neither of them with --decline.",
                hint=f'For example: swarm answer {number} "metres"',
            )
        with self.project.writing() as ledger:
            found = [each for each in ledger.state.questions if each.number == number]
            planning = ledger.state.planning in (Planning.ASKED, Planning.OBJECTED)
            if found and not (found[0].task or planning):
                message = f"Question {number} was for a plan that is made by now."
                raise IllegalMove(message, hint='Change that with: swarm revise "..."')
            chosen = found[0].options[option - 1 : option] if found and option > 0 else ()
            said = self.project.redact("\n".join(filter(None, (*chosen, text.strip()))))
            event = QuestionAnswered(number=number, answer=said, option=option, declined=decline)
            status_file.refresh(self.folder, ledger.append([event], expect=ledger.state.seq, actor=self.project.actor))

    # --- decisions about one task ---

    def retry(self, task: str, *, note: str = "") -> None:
        """Has a blocked or rejected task tried again; `note` goes to the architect and the coder.

        So it has a completed one whose commit is not in the history any more. The number of a phase that its
        reviewers rejected has that judged anew; `note` goes to them.
        """
        if number := phase_number(task):
            self._append(PhaseRetried(phase=number, note=note))
        else:
            self._decide(TaskRetried(task=task, note=note))

    def skip(self, task: str, *, reason: str) -> None:
        """Gives a task up. Its change, if there is one, goes to the quarantine when the next task begins."""
        self._decide(TaskSkipped(task=task, reason=reason))

    def override(self, task: str, *, reason: str) -> str:
        """Overrules the last rejection of a task and returns its stage. All other stages judge the tree again.

        Of a completed task whose commit is not in the history any more it says that the history holds it in another
        form; the stage is then `history`. The number of a phase that its reviewers rejected lets that go on; the stage
        is then `gate` or `validation`.

        Raises:
            IllegalMove: there is no rejection, or it is one that nobody can overrule (secrets, SAST, syntax).
        """
        if not reason.strip():
            raise UsageError("An override needs a reason; it goes on record.", hint='Add: --reason "..."')
        if number := phase_number(task):
            stage_of_phase = judged_stage(self.state) or "validation"
            self._append(PhaseOverridden(phase=number, stage=stage_of_phase, reason=reason))
            return stage_of_phase
        if self._vouched(task, reason):
            return "history"
        last = self.state.task(task).last
        stage = last.stage if last else ""
        self._decide(RejectionOverridden(task=task, stage=stage, reason=reason))
        return stage

    def undo(
        self, task: str, *, with_dependents: bool = False, stash: bool = False, reason: str = ""
    ) -> tuple[TaskUndone, ...]:
        """Takes a task back: its commit is reverted by another one, and it is pending again with its attempts.

        Of one that was begun and is not complete, the change goes to the quarantine. Of one that the user reverted by
        hand, that goes on record. A phase that was approved is open again, as long as no later one has work in it.

        Args:
            task: its id.
            with_dependents: take back what builds on it, too, first.
            stash: put uncommitted changes aside instead of refusing.
            reason: goes on record, and to architect and coder.

        Raises:
            IllegalMove: nothing of it is there, or complete tasks build on it.
            DirtyTree: there are uncommitted changes.
            CommitLost: its commit is gone.
            WorkspaceError: what it changed was changed again since, so that nothing was touched; or git refused.
            LedgerLocked: a run is going on.
        """
        from swarmgate.engine.requirements import keys_withheld
        from swarmgate.engine.undo import undo

        with self.project.writing() as ledger, keys_withheld(self.config):
            self._recover_locks(ledger, repository := self.project.repository())
            reason = " ".join(reason.split())
            events = undo(
                self.project, ledger, repository, task, with_dependents=with_dependents, stash=stash, reason=reason
            )
            status_file.refresh(self.folder, ledger.state)
            return events

    def abandon(self, *, reason: str) -> GoalAbandoned:
        """Ends the goal before its work is done. Its branch stays; what is not committed goes to the quarantine.

        Raises:
            IllegalMove: there is no goal, or its work is done.
            LedgerLocked: a run is going on.
        """
        if not reason.strip():
            raise UsageError("To abandon a goal needs a reason; it goes on record.", hint='Add: --reason "..."')
        from swarmgate.engine.abandon import abandon

        with self.project.writing() as ledger:
            self._recover_locks(ledger, repository := self.project.repository())
            event = abandon(ledger, repository, " ".join(reason.split()), actor=self.project.actor)
            status_file.refresh(self.folder, ledger.state)
            return event

    def describe(self, *, title: str = "", cost: bool = False) -> PullRequest:
        """The description of a pull request as it would be opened now; nothing is pushed.

        Raises:
            UsageError: there is no plan.
        """
        from swarmgate.engine.pull_request.opening import described

        return described(self.project, title=title, cost=cost)

    def pull_request(
        self, *, title: str = "", base: str = "", remote: str = "", draft: bool = False, cost: bool = False
    ) -> PullRequest:
        """Pushes the goal's branch, never by force, and opens a pull request where a program of the forge is there.

        Raises:
            IllegalMove: the goal is not finished, and `draft` is False.
            UsageError, WorkspaceError: there is no remote, it is out of reach, or it refuses.
        """
        from swarmgate.engine.pull_request.opening import open_pull_request

        return open_pull_request(self.project, title=title, base=base, remote=remote, draft=draft, cost=cost)

    # --- looking ---

    def status(self, ledger: Ledger | None = None) -> StatusReport:
        """Reports the state of the work, and the possible next actions.

        Args:
            ledger: as somebody keeps it who reads on in it; None: it is read from its beginning.
        """
        owner = at_work(self.folder.lock)
        turn = live_breakers.read(self.folder.breakers, owner)
        models, problem = self._role_models()
        ledger = ledger or Ledger.read(self.folder)
        report = status_report(ledger.state, working=describe(owner) if owner else "", turn=turn, models=models)
        edited = () if owner else ledger.projector.differing(ledger.state)  # a process at work writes them itself
        history = "" if owner else self._history_problem(ledger.state)
        actions = (_MEND_HISTORY, *report.actions) if history else report.actions
        more = {
            "settings_problem": problem,
            "edited": edited,
            "ledger_problem": ledger.lost,
            "unsettled": self._unsettled_usage(ledger.state),
            "history_problem": history,
            "actions": _MEND_SETTINGS if problem and not owner else actions,
        }
        return report.model_copy(update=more)

    def _unsettled_usage(self, state: State) -> Usage:
        """What the step that goes on used so far, and nobody recorded yet."""
        from swarmgate.engine.reports.cost import pending

        return pending(self.folder, state)

    def _history_problem(self, state: State) -> str:
        """What the branch of the work lacks of completed tasks, as far as the next run builds on it."""
        if not state.branch or state.finished:
            return ""
        from swarmgate.engine.branch_history import problem

        return problem(state, self.folder.root)

    def live(self, pid: int = 0) -> LiveRun | None:
        """What the run at work told last; None where nobody works. `pid`: of that process, also when it has ended."""
        return live_progress.read(self.folder.progress, {"pid": pid} if pid else at_work(self.folder.lock))

    def _role_models(self) -> tuple[dict[str, RoleModel], str]:
        """The models of the roles as the settings have them now; where those cannot be read, why not."""
        from swarmgate.engine.reports.models import role_models

        try:
            return role_models(self.config, self.folder.root), ""
        except SwarmError as error:
            hint = f" -> {error.hint}" if error.hint else ""
            return {}, " ".join(f"{error.message}{hint}".split())

    def show(self, task: str) -> TaskReport:
        """Everything about one task; raises `UsageError` where the plan has none of that id."""
        from swarmgate.ledger.evidence.evidence import EvidenceStore

        return task_report(self.state, task, EvidenceStore(self.folder))

    def cost(self) -> CostReport:
        """What was used, by task, role, model, phase and day, with what a run elsewhere has not recorded yet."""
        from swarmgate.engine.reports.cost import cost_report

        return cost_report(self.folder)

    def failures(self) -> tuple[FailureGroup, ...]:
        """Rejections of all tasks of all goals, grouped by what they have in common."""
        from swarmgate.engine.reports.failures import failure_groups

        entries = (entry for entry, _ in Ledger.read(self.folder).entries())
        return failure_groups(entries, prompt=self._prompt)

    def _prompt(self, role: str) -> str:
        """The path of a role's prompts, a file or a folder: the project's own, else where to put them."""
        for name in (role, f"{role}.md"):
            if (self.folder.prompts / name).exists():
                return f".swarm/prompts/{name}"
        built_in = assets.prompts() / role
        if built_in.is_dir():
            return f".swarm/prompts/{role}/ (with a copy of a step's file in {built_in}, to be changed)"
        return f".swarm/prompts/{role}.md (a copy of {built_in}.md, to be changed)"

    def history(self, *, task: str = "") -> tuple[HistoryLine, ...]:
        """Describes the recorded events, in order."""
        return history_lines((entry for entry, _ in Ledger.read(self.folder).entries()), task=task)

    def report(self, *, phase: int = 0, out: Path | None = None) -> GoalReport:
        """Writes one page of HTML about the goal, or about a phase, to `.swarm/report.html` or to `out`.

        Raises:
            UsageError: there is no plan or no such phase, or `out` is no place for a page.
            LedgerWriteFailed: it could not be written.
        """
        from swarmgate.engine.reports.goal_page.page import write_report

        return write_report(self.project, phase=phase, out=out)

    def open_page(self, path: str) -> bool:
        """Opens a page that was written; False where nothing on this machine does that."""
        from swarmgate.workspace.programs.browser import open_page

        return open_page(self.folder.root / path, self.folder.root)

    def verify(self) -> tuple[Check, ...]:
        """Walks the chain and compares ledger, plan files, evidence and git. Changes nothing."""
        from swarmgate.ledger.audit.audit import audit

        return audit(self.folder, self.project.repository())

    def restore(self) -> LedgerRestored | None:
        """Brings back what the ledger lost (by a stash, a checkout, a reset); None where it lost nothing.

        What stands there goes to the quarantine. Evidence and settings do not come back: `verify` says what is gone.

        Raises:
            LedgerLocked: another process is writing.
            LedgerError: nothing is known of what was there, or not all of it.
        """
        from swarmgate.ledger.recovery.restore import restore

        event = restore(self._folder_of_old())
        if event is not None:
            self._append(event)
        return event

    def adopt(self) -> LedgerAdopted | None:
        """Goes on with the ledger that is there, though other lines were recorded; None where it lacks none.

        Raises:
            LedgerLocked: another process is writing.
            LedgerError: the ledger does not hold, or git's folder cannot be written.
        """
        from swarmgate.ledger.recovery.restore import adopt

        event = adopt(self.folder)
        if event is not None:
            self._append(event)
        return event

    def _folder_of_old(self) -> SwarmFolder:
        """The project's folder, made anew where it is gone and git's folder knows of it."""
        from swarmgate.ledger.files.high_water_mark import HighWater
        from swarmgate.ledger.witness.anchors import known
        from swarmgate.workspace.git.repository import Repository

        try:
            return self.folder
        except NotAProject:
            start, top = self.project.start.resolve(), Repository.discover(self.project.start).top
            within = (SwarmFolder(each) for each in (start, *start.parents) if each.is_relative_to(top))
            folder = next((each for each in within if HighWater(each.root).read() or known(each)), None)
            if folder is None:
                raise
            folder.create()
            return folder

    def doctor(self) -> tuple[Check, ...]:
        """Whether everything is there that the work needs. Spends no tokens, changes nothing.

        `automation.doctor()` gives the same with the places of what it found, and mends it.
        """
        return self.automation.doctor().checks

    async def probe_models(self) -> ModelsReport:
        """Asks every configured model what it can; the findings steer the next runs. Spends a few hundred tokens each.

        Raises:
            ConfigError: no model is configured.
        """
        from swarmgate.engine.reports.models import probe_models

        return await probe_models(self.config, self.folder, self.project.environ)

    # --- inside ---

    def _append(self, event: Event) -> None:
        with self.project.writing() as ledger:
            status_file.refresh(self.folder, ledger.append([event], expect=ledger.state.seq, actor=self.project.actor))

    def _decide(self, event: TaskRetried | TaskSkipped | RejectionOverridden) -> None:
        """Records a decision about a task; an attempt that was left open by a paused run ends with it."""
        with self.project.writing() as ledger:
            events: list[Event] = [event]
            if ledger.state.open == event.task:
                events = [*self._ended_attempt(ledger.state), event]
            else:
                events = [*self._reopened(ledger.state, event.task), event]
            status_file.refresh(self.folder, ledger.append(events, expect=ledger.state.seq, actor=self.project.actor))

    def _vouched(self, task: str, reason: str) -> bool:
        """Records that the user vouches for a completed task whose commit is gone; False: there is nothing of that."""
        if self.state.task(task).status is not TaskStatus.COMPLETE:
            return False
        from swarmgate.engine.branch_history import vouched

        with self.project.writing() as ledger:
            state = ledger.state
            moved = vouched(state, self.folder.root, task, reason)
            status_file.refresh(self.folder, ledger.append(moved, expect=state.seq, actor=self.project.actor))
            return bool(moved)

    def _reopened(self, state: State, task: str) -> list[Event]:
        """What opens a completed task again whose commit is gone; nothing for any other."""
        if state.task(task).status is not TaskStatus.COMPLETE:
            return []
        from swarmgate.engine.branch_history import is_lost

        commit = state.task(task).commit
        return [TaskReopened(task=task, commit=commit)] if is_lost(state, self.folder.root, task) else []

    def _ended_attempt(self, state: State) -> list[Event]:
        """The end of an attempt that a paused run left open; the files are as its last step left them."""
        from swarmgate.ledger.recovery.interruption import ended

        return ended(state, self.folder, self.project.repository(), "the user decided otherwise")

    async def _work(
        self,
        first: Sequence[Event],
        *,
        stash: bool = False,
        needs_tree: bool = False,
        waits: bool = False,
        unattended: Unattended = ATTENDED,
        attended: bool = True,
    ) -> RunOutcome:
        """Records what the user said, then lets the loop work until it is the user's turn."""
        from swarmgate.automation.watch.run_workers import wait_for_hooks
        from swarmgate.engine.build import build
        from swarmgate.engine.loop import run_loop
        from swarmgate.engine.requirements import (
            keys_withheld,
            require_branch,
            require_models,
            require_tools,
        )
        from swarmgate.ledger.recovery.interruption import head_moved

        repository = self.project.repository()
        config = self.config
        with self.project.writing() as ledger:
            self._recover_locks(ledger, repository)
            declines = not (attended or config.ask.wait) and question_at_work(ledger.state) is not None
            due = next_step(ledger.state) or approval_due(ledger.state, unattended) or declines
            if not (first or due):
                return self._outcome(ledger.state, unattended)
            context = build(
                self.project,
                repository=repository,
                ledger=ledger,
                stash=stash,
                waits=waits,
                unattended=unattended,
                attended=attended,
            )
            for warning in require_models(config, self.project.environ, repository):
                self.notice(warning)
            require_tools(config)
            if needs_tree or ledger.state.open:
                require_branch(context)
            ledger.append(first, expect=ledger.state.seq, actor=self.project.actor)
            self._record(ledger, head_moved(ledger.state, self.folder, repository))
            self._interrupt, self._notify = lambda: setattr(context.stop, "asked", True), context.notify
            try:
                with self.automation.workers_during_run(context.notify) as watcher, keys_withheld(config):
                    with context.worked.running(), operation(Operation.WORKFLOW, "goal", goal=ledger.state.goal):
                        state = await run_loop(context)
                    hook_s, stop = config.automation.hook_s, context.stop
                    await wait_for_hooks(watcher, hook_s, tell=context.notify, asked=lambda: stop.requested)
            finally:
                self._interrupt = self._notify = None
                for meter in context.meters.values():
                    await meter.aclose()
        return self._outcome(state, unattended)

    def _outcome(self, state: State, unattended: Unattended) -> RunOutcome:
        """The outcome of a run; a checkpoint comes with what drifted from the decisions on record."""
        found = outcome_of(state)
        more: dict[str, object] = {"reason": why} if (why := needs_person(state, unattended)) else {}
        if found.checkpoint:
            drift = self.automation.drift()
            signals = tuple(signal.line for signal in drift.signals) if drift.drifted else ()
            more["checkpoint"] = found.checkpoint.model_copy(update={"drift": signals})
        return found.model_copy(update=more)

    def _recover_locks(self, ledger: Ledger, repository: Repository) -> None:
        """Removes git's locks that a dead process of ours left, on record."""
        repository.locks.notify = self.notice
        repository.locks.recover()
        removed = repository.locks.drain()
        self._record(ledger, [LocksRemoved(locks=each.locks, command=each.command) for each in removed])

    def _record(self, ledger: Ledger, events: Sequence[Event]) -> None:
        """Records what was found before the work begins, and says so."""
        from swarmgate.ledger.views.describe import describe

        ledger.append(events, expect=ledger.state.seq)
        for event in events:
            if text := describe(event):
                self.notice(text)


def _programs() -> Programs:
    """The commands and gates that judge versions of a critique."""
    from swarmgate.engine.critique_checks import ProjectChecks

    return ProjectChecks
