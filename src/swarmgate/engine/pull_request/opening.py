"""Pushes the goal's branch and opens a pull request, or prints what one would say."""

from __future__ import annotations

from swarmgate.domain.base import Frozen
from swarmgate.domain.evidence.attestation import NOTES_REF
from swarmgate.domain.next_step import waiting_for
from swarmgate.domain.state.state import State
from swarmgate.domain.text.redaction import masked
from swarmgate.engine.branch_history import standing
from swarmgate.engine.pull_request.description import description
from swarmgate.engine.reports.goal import OUR_WORDS, GoalRecord, read_goal
from swarmgate.engine.reports.outcome import actions
from swarmgate.errors import IllegalMove, SwarmError, UsageError, WorkspaceError
from swarmgate.project import Project
from swarmgate.workspace.git import history
from swarmgate.workspace.git.hosting import forge, remotes, shared_notes
from swarmgate.workspace.git.hosting.forge import Opened, Request
from swarmgate.workspace.git.hosting.remotes import Remote
from swarmgate.workspace.git.repository import Repository

_SHORTEST_KEY = 8
"""Characters: a shorter value of a key would be found in ordinary words."""


_LONGEST_TITLE = 250
"""Characters: GitHub takes 256, GitLab 255."""


class PullRequest(Frozen):
    """`swarm pr`: what was pushed and opened, and the description.

    `pushed` says that the remote's branch moved; it is False where it had the commit already. `url` is that of the pull
    request, `program` what opened it, `known` that it was open before: its description is then as it was. `page` is
    where it can be opened by hand; `problem` says why a program that is there did not open it. `attested` says that the
    remote got statements about its commits, `unattested` why it could not.
    """

    title: str
    description: str
    base: str = ""
    branch: str = ""
    commit: str = ""
    remote: str = ""
    draft: bool = False
    pushed: bool = False
    attested: bool = False
    unattested: str = ""
    url: str = ""
    program: str = ""
    known: bool = False
    page: str = ""
    problem: str = ""


def described(project: Project, *, title: str = "", cost: bool = False) -> PullRequest:
    """The description alone; nothing is pushed, and the goal may be unfinished.

    Raises:
        UsageError: there is no plan.
        ConfigError: the settings cannot be read, which name the keys that must not stand in it.
        LedgerError: the ledger cannot be read.
    """
    record = read_goal(project)
    record = GoalRecord.model_validate(masked(record.model_dump(mode="json"), project.redact, names=OUR_WORDS))
    return PullRequest(
        title=" ".join((project.redact(title) or record.title).split())[:_LONGEST_TITLE],
        description=description(record, cost=cost),
        base=record.base,
        branch=record.branch,
    )


def open_pull_request(
    project: Project, *, title: str = "", base: str = "", remote: str = "", draft: bool = False, cost: bool = False
) -> PullRequest:
    """Pushes the branch, never by force, and opens the pull request where the forge's own program is there.

    Raises:
        IllegalMove: the goal is not finished, and it shall be no draft.
        UsageError: there is no plan or no remote, or no branch to merge into is known.
        WorkspaceError: HEAD is detached, the branch is gone, a key stands in a commit, or the remote refuses.
        CommitLost: completed work is not in the branch any more.
    """
    found = described(project, title=title, cost=cost)
    state, repository = project.state, project.repository()
    _require_finished(state, found, draft=draft)
    commit = _commit(state, repository)
    into = _into(state, base)
    to = remotes.find(repository, remote, branches=(state.branch, into))
    _require_no_keys(project, repository, commit)
    there = remotes.tips(repository, to, state.branch, into)
    pushed = _pushed(repository, to, commit, state.branch, there.get(state.branch, ""))
    request = Request(base=into, branch=state.branch, title=found.title, description=found.description, draft=draft)
    host = forge.hosting(to.configured, to.address)
    if into not in there:
        opened = Opened(problem=f"{to.name} has no branch {into} to merge into: git push {to.name} {into}")
    else:
        opened = forge.open_request(host, request, repository.root) if host else Opened()
    return found.model_copy(
        update={
            "base": into,
            "branch": state.branch,
            "commit": commit,
            "remote": to.name,
            "draft": draft,
            "pushed": pushed,
            **_attested(project, repository, to),
            **opened._asdict(),
            "page": host.page(into, state.branch) if host and into in there and not opened.url else "",
            "problem": project.redact(opened.problem),
        }
    )


def _require_finished(state: State, found: PullRequest, *, draft: bool) -> None:
    if not state.goal:
        raise IllegalMove(
            "The goal was abandoned: nothing of it is handed over.",
            hint=f"swarm pr --print describes it; its branch stays: git push REMOTE {found.branch}",
        )
    if not state.branch:
        raise IllegalMove("The work has not begun, so there is no branch to push.", hint="Begin it with: swarm run")
    if state.finished or draft:
        return
    left = "; ".join(actions(state, waiting_for(state))[:1])
    raise IllegalMove(
        f"The goal is not finished: phase {state.current_phase} is not approved.",
        hint=f"Show it as it stands with: swarm pr --draft. Or go on: {left}",
    )


def _into(state: State, base: str) -> str:
    """The branch to merge into."""
    into = base or state.base_branch
    if not into:
        raise UsageError("The work began at no branch: what is it to be merged into?", hint="swarm pr --base main")
    if into == state.branch:
        raise UsageError(f"{into} is the branch of the work itself.", hint="Name another one: swarm pr --base main")
    return into


def _commit(state: State, repository: Repository) -> str:
    """The newest commit of the goal's branch, which holds all completed work."""
    if repository.branch() is None:
        raise WorkspaceError(
            "HEAD is detached: what is checked out is no branch.", hint=f"git switch {state.branch}, then: swarm pr"
        )
    if not repository.branch_exists(state.branch):
        raise WorkspaceError(
            f"The branch of the work, {state.branch}, is gone.",
            hint="git reflog shows where it was: git branch NAME COMMIT",
        )
    standing(state, repository.root)
    return history.tip(repository, state.branch)


def _require_no_keys(project: Project, repository: Repository, commit: str) -> None:
    """Refuses to push a commit with the value of a provider's key, whoever made it; agents' passed `secret_scan`."""
    keys = [each for each in project.keys if len(each) >= _SHORTEST_KEY]
    found = remotes.carrying(repository, project.state.base, commit, keys)
    if found:
        raise WorkspaceError(
            f"Commit {found} holds the key of a provider. Nothing was pushed.",
            hint=f"Take it out of the history (git rebase -i {found}^), then: swarm pr",
        )


def _pushed(repository: Repository, to: Remote, commit: str, branch: str, before: str) -> bool:
    """Whether the branch of the remote moved from `before`, which is empty where there was none."""
    if before == commit:
        return False
    if before and not history.contains(repository, commit, before):
        raise remotes.diverged(to, branch)
    try:
        remotes.push(repository, to, commit, branch)
    except WorkspaceError:
        if remotes.tips(repository, to, branch).get(branch) == commit:  # somebody pushed the same at the same moment
            return False
        raise
    return True


def _attested(project: Project, repository: Repository, to: Remote) -> dict[str, bool | str]:
    """Shares the statements about commits, where they are made; they can follow later, so nothing ends for them."""
    if not project.config.git.attest:
        return {}
    try:
        return {"attested": shared_notes.share(repository, to.address, NOTES_REF)}
    except SwarmError as error:
        return {"unattested": project.redact(f"{error.message} {error.hint}".strip())}
