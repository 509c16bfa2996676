"""The tree of swarmgate's exceptions, and the exit code that each one ends a command with.

    SwarmError                          exit code
    ├── UsageError                      2    wrong usage or bad input: the message names file, line or key
    │   ├── ConfigError                 2    a configuration file, variable or flag is wrong
    │   ├── NotAProject                 2    no git repository, or no `.swarm/` in it
    │   ├── WorkspaceError              2    the repository is not in a state that can be worked on
    │   │   ├── DirtyTree               2    uncommitted changes stand in the way
    │   │   ├── UnsafePath              2    a path leaves the repository or enters `.git`, `.swarm`
    │   │   ├── FileProblem             2    a file cannot be read or edited as asked (not text, no such line ...)
    │   │   ├── CommitRefused           2    git or a hook of the repository refused the commit
    │   │   ├── GitLocked               2    another git command holds a lock, or one that crashed left it
    │   │   ├── GitKilled               2    a git command was killed in the middle
    │   │   ├── HeadMoved               2    somebody else committed on the branch, or moved it
    │   │   └── CommitLost              2    the commit of a completed task is not in the branch any more
    │   ├── CommandRefused              2    the policy for commands refused a line of an agent
    │   ├── PlanError                   2    a plan breaks the rules of a plan
    │   │   └── PlanSyntaxError         2    plan.md or plan.json cannot be read
    │   ├── AlreadyWatching             2    another process watches this project
    │   ├── CouncilRefused              2    a council (debate, discussion, decision ...) cannot be held as asked
    │   │   └── Archived                2    a chat that is over is read-only
    │   ├── RequestRefused              2    the team server refused a request
    │   │   ├── Unauthenticated         2    nothing proves who asks, or the proof is over, revoked or wrong
    │   │   ├── NotAllowed              2    the role is too low, or the request came from a foreign page
    │   │   ├── NotFound                2    there is no such thing, or none that the account may see
    │   │   ├── Stale                   2    what was decided about has moved on
    │   │   ├── KeyReused               2    an Idempotency-Key stands on two different requests
    │   │   ├── BadRequest              2    the request cannot be read as what it says it is
    │   │   ├── BodyTooLarge            2    the body has more bytes than `[server.limits]` allows
    │   │   ├── BodyTooSlow             2    the body did not come in time
    │   │   ├── TooMany                 2    more requests in a minute than `[server.limits]` allows
    │   │   ├── TooSlow                 2    a reader of the events fell behind, and was cut off
    │   │   └── Full                    2    as many take part as the server serves
    │   └── IllegalMove                 2    the request does not fit the state of the project
    │       └── InvalidTaskStateTransition   the life cycle of a task forbids it
    ├── LedgerError                     2    the ledger cannot be used as it is
    │   ├── LedgerCorrupt               1    the chain is broken: tampered with, or damaged
    │   │   └── LedgerRolledBack        1    lines that were recorded are not in it any more
    │   ├── LedgerLocked                2    another process is writing
    │   ├── StaleWriter                 2    the ledger moved on since this writer read it
    │   └── LedgerWriteFailed           2    the disk refused the append; nothing was recorded
    ├── FleetError                      2    goals that several machines work on cannot be reached or changed as asked
    │   ├── LeaseLost                   1    somebody else works on the goal now; what was done here is kept
    │   ├── NewerGoal                   2    a newer swarmgate wrote the goal
    │   ├── RemoteAway                  5    the remote that holds the goals is out of reach
    │   └── QueueAway                   5    the database that hands work to workers is out of reach
    ├── WaitingForUser                  3    a question or an approval is due
    ├── BudgetExhausted                 4    money or tokens of `[budget]` are used up; resumable
    │   └── LimitReached                4    the limit of a model's account, which names its end; resumable
    ├── ModelError                      5    the model endpoint failed
    │   ├── EndpointFailed              5    for good: after retries and every fallback
    │   └── NoUsableReply               5    it answers, but never with what was asked for
    │       ├── BreakerTripped          5    its turn went past one of its bounds, and was stopped
    │       └── CouncilFailed           5    no voice of a council, or its synthesis, gave anything that counts
    ├── PreflightFailed                 1    a check before a phase found what stops it
    ├── SelfCodingBlocked               1    the architect wrote project files itself, and was stopped
    ├── MissingRequirement              6    a tool or a key that was asked for is not there
    │   ├── ToolKilled                  6    a tool was ended from outside, each time: memory or peace is missing
    │   └── StoreAway                   6    what keeps the server's state cannot be reached
    └── Stopped                         130  the user asked for it

Anything else that reaches the boundary is a bug: exit code 70 and a report file.
"""

from __future__ import annotations

from copy import copy
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple, Self


class SwarmError(Exception):
    """Root of the tree: a sentence for the user and, where there is one, the next step to take.

    Args:
        message: what happened and where (file, line, key), one or two sentences.
        hint: what to do next; empty when the message says it all.
    """

    exit_code: ClassVar[int] = 70
    code: ClassVar[str] = "ERROR"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """How it goes from process to process, whatever else its constructor asks for."""
        return _revived, (type(self), self.args, self.__dict__)


def _revived(kind: type[SwarmError], args: tuple[object, ...], fields: dict[str, object]) -> SwarmError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class UsageError(SwarmError):
    """Wrong usage or bad input."""

    exit_code = 2
    code = "USAGE"


class CommandRefused(UsageError):
    """The policy for commands refused a line of an agent, who is told.

    Args:
        rule: the first one that did.
    """

    code = "COMMAND_REFUSED"

    def __init__(self, message: str, *, rule: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule


class ConfigError(UsageError):
    """A configuration file, a `SWARM_*` variable or a flag is wrong."""

    code = "CONFIG"


class UnknownVariable(UserWarning):
    """No error: a `SWARM_*` variable names no setting, and is ignored; other programs use the prefix, too."""


class NotAProject(UsageError):
    """There is no git repository here, or no `.swarm/` folder in it."""

    code = "NOT_A_PROJECT"


class WorkspaceError(UsageError):
    """The repository is not in a state that swarmgate can work on."""

    code = "WORKSPACE"


class DirtyTree(WorkspaceError):
    """Uncommitted changes stand in the way.

    Args:
        paths: what is uncommitted, repository-relative.
    """

    code = "DIRTY_TREE"

    def __init__(self, message: str, *, paths: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.paths = paths


class UnsafePath(WorkspaceError):
    """A path leaves the repository, or enters `.git` or `.swarm`."""

    code = "UNSAFE_PATH"


class FileProblem(WorkspaceError):
    """A file cannot be read, edited or deleted as asked; the message is written for the model that asked."""

    code = "FILE_PROBLEM"


class CommitRefused(WorkspaceError):
    """Git, or a hook of the user's repository, refused the commit. Nothing was committed, no file was lost.

    Args:
        output: everything that git and the hooks printed.
    """

    code = "COMMIT_REFUSED"

    def __init__(self, message: str, *, output: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.output = output


class GitLocked(WorkspaceError):
    """A lock of git's stands in the way: another git command holds it, or one that crashed left it.

    Args:
        lock: the file, as git names it.
    """

    code = "GIT_LOCKED"

    def __init__(self, message: str, *, lock: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.lock = lock


class GitKilled(WorkspaceError):
    """A git command was killed in the middle, so that it answered neither yes nor no."""

    code = "GIT_KILLED"


class HeadMoved(WorkspaceError):
    """The branch is not where an attempt began: somebody else committed on it, or moved it. Their commits stay.

    Args:
        left: what became of a commit of ours that was made at the same moment; empty where there was none.
    """

    code = "HEAD_MOVED"

    def __init__(self, message: str, *, left: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.left = left


class CommitLost(WorkspaceError):
    """The commit of a completed task is not in the branch of the work any more: it was reset, or rewritten.

    Args:
        tasks: the ids of all such tasks.
    """

    code = "COMMIT_LOST"

    def __init__(self, message: str, *, tasks: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.tasks = tasks


class PlanError(UsageError):
    """A plan breaks the rules of a plan.

    Args:
        problems: every broken rule, one sentence each, naming the task.
    """

    code = "PLAN"

    def __init__(self, message: str, *, problems: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class PlanSyntaxError(PlanError):
    """plan.md or plan.json cannot be read; the message carries file and line."""

    code = "PLAN_SYNTAX"


class AlreadyWatching(UsageError):
    """Another process watches this project; two would tell everything twice."""

    code = "ALREADY_WATCHING"


class CouncilRefused(UsageError):
    """A debate, a dispatch or a swarm chat cannot be held as asked; the message names the parameter and its bounds."""

    code = "COUNCIL"


class Archived(CouncilRefused):
    """A swarm chat that is over is read-only: nothing can be sent, and it is not taken up again."""

    code = "ARCHIVED"


class RequestRefused(UsageError):
    """The team server refused a request."""

    code = "REQUEST_REFUSED"


class Unauthenticated(RequestRefused):
    """Nothing proves who asks, or the proof is over, revoked or wrong; which of them is not told."""

    code = "UNAUTHENTICATED"


class NotAllowed(RequestRefused):
    """The account's role is too low for this, or the request came from a foreign page."""

    code = "FORBIDDEN"


class NotFound(RequestRefused):
    """There is no such thing, or none that the account may see: the two look alike."""

    code = "NOT_FOUND"


class Stale(RequestRefused):
    """What was decided about has moved on since it was looked at.

    Args:
        seq: where it is now; 0 where that is no matter of one number.
    """

    code = "STALE"

    def __init__(self, message: str, *, seq: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.seq = seq


class KeyReused(RequestRefused):
    """An `Idempotency-Key` stands on two different requests, or on one whose answer cannot be given again."""

    code = "IDEMPOTENCY_KEY_REUSED"


class BadRequest(RequestRefused):
    """The request cannot be read as what it says it is: a header, the host, the encoding of the body."""

    code = "BAD_REQUEST"


class BodyTooLarge(RequestRefused):
    """The body has more bytes than `[server.limits] body_bytes`."""

    code = "BODY_TOO_LARGE"


class BodyTooSlow(RequestRefused):
    """The body did not come within `[server.limits] body_s`."""

    code = "BODY_TOO_SLOW"


class TooMany(RequestRefused):
    """An account or an address asked more often in a minute than `[server.limits]` allows.

    Args:
        retry_after_s: after how many seconds it may ask again.
    """

    code = "RATE_LIMITED"

    def __init__(self, message: str, *, retry_after_s: int = 1, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class TooSlow(RequestRefused):
    """A reader of the events fell so far behind that it was cut off; it comes back with the number it saw last."""

    code = "TOO_SLOW"


class Full(RequestRefused):
    """As many readers or runs take part as the server serves at once."""

    code = "FULL"


class IllegalMove(UsageError):
    """The request does not fit the state that the project is in."""

    code = "ILLEGAL_MOVE"


class InvalidTaskStateTransition(IllegalMove):
    """The life cycle of a task forbids this move (`domain.state.lifecycle`)."""

    code = "INVALID_TASK_STATE_TRANSITION"


class LedgerError(SwarmError):
    """The ledger cannot be used as it is."""

    exit_code = 2
    code = "LEDGER"


class LedgerCorrupt(LedgerError):
    """The hash chain is broken: a line was altered, removed or damaged.

    Args:
        line: number of the first line that does not fit, from 1; 0 when it is not a matter of one line.
    """

    exit_code = 1
    code = "LEDGER_CORRUPT"

    def __init__(self, message: str, *, line: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.line = line


class LedgerRolledBack(LedgerCorrupt):
    """The ledger lost lines that were recorded: a stash, a checkout, a reset or a backup took it back."""

    code = "LEDGER_ROLLED_BACK"


class LedgerLocked(LedgerError):
    """Another live process holds the ledger."""

    code = "LEDGER_LOCKED"


class StaleWriter(LedgerError):
    """The ledger has moved on since this writer read it."""

    code = "STALE_WRITER"


class LedgerWriteFailed(LedgerError):
    """The disk refused the append (full, read-only); nothing was recorded and the file is as before."""

    code = "LEDGER_WRITE_FAILED"


class FleetError(SwarmError):
    """Goals that several machines work on cannot be reached or changed as asked."""

    exit_code = 2
    code = "FLEET"


class LeaseLost(FleetError):
    """Somebody else works on the goal now. What was done here is kept in the quarantine, and counts no more."""

    exit_code = 1
    code = "LEASE_LOST"


class NewerGoal(FleetError):
    """A newer swarmgate wrote the goal; this one does not know all of its events."""

    code = "NEWER_GOAL"


class RemoteAway(FleetError):
    """The remote that holds the goals is out of reach, or refuses."""

    exit_code = 5
    code = "REMOTE_AWAY"


class QueueAway(FleetError):
    """The database that hands work to workers is out of reach."""

    exit_code = 5
    code = "QUEUE_AWAY"


class WaitingForUser(SwarmError):
    """A question or an approval is due before work can go on."""

    exit_code = 3
    code = "WAITING"


class Owner(NamedTuple):
    """Whose a budget is.

    `name` says which one: the number of a phase, the id of a task, the session of a council
    (`discussion-20261121-224500-3f2a`); it is empty for the others. A `debate` is one of a run, bounded by `[council]`.
    """

    kind: Literal["project", "run", "phase", "task", "session", "debate", "evaluation"]
    name: str = ""


class ExhaustedAccount(NamedTuple):
    """The budget that ended work; `measure` is what of it has to be raised, or limited in the first place."""

    owner: Owner
    measure: Literal["usd", "tokens", "seconds"]


class BudgetExhausted(SwarmError):
    """The money or the tokens of `[budget]` are used up. The project is paused and resumable.

    Args:
        account: which budget; None: the limit of a provider, which is nobody's budget.
    """

    exit_code = 4
    code = "BUDGET"

    def __init__(self, message: str, *, account: ExhaustedAccount | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.account = account

    def is_of(self, owner: Owner) -> bool:
        """Whether it is the budget of this one that is used up."""
        return self.account is not None and self.account.owner == owner

    def option(self, session: str) -> str:
        """What raises the budget of a council's session, at the end of a command line; empty: another one is used up.

        Args:
            session: its name.
        """
        if self.account is None or not self.is_of(Owner("session", session)):
            return ""
        return " --usd X" if self.account.measure == "usd" else " --tokens N"

    @property
    def remedy(self) -> str:
        """What has to happen before the work can go on."""
        return "raise the budget"

    def with_hint(self, hint: str) -> Self:
        """The same error with another hint."""
        again = copy(self)
        again.hint = hint
        return again

    def with_option(self, goes_on: str, session: str) -> Self:
        """The same error, with the option that raises the budget of a session behind the command line that goes on."""
        return self.with_hint(self.hint.replace(goes_on, f"{goes_on}{self.option(session)}")) if goes_on else self


class LimitReached(BudgetExhausted):
    """The limit of an account or a model was reached, and ends later than a run waits for (`[loop] wait_limit`).

    Args:
        until: when it ends; aware.
    """

    code = "LIMIT"

    def __init__(self, message: str, *, until: datetime | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.until = until

    @property
    def remedy(self) -> str:
        """What has to happen before the work can go on."""
        return "wait for that end, or raise `wait_limit` in [loop] or the limit"


class ModelError(SwarmError):
    """A model endpoint failed."""

    exit_code = 5
    code = "MODEL"


class EndpointFailed(ModelError):
    """The endpoint failed for good: retries and every fallback are used up."""

    code = "ENDPOINT_FAILED"


class NoUsableReply(ModelError):
    """The model answers, but within the bound it never gave what was asked for."""

    code = "NO_USABLE_REPLY"


class BreakerTripped(NoUsableReply):
    """A turn went past one of its bounds (`[breakers]`, `[loop]`) and was stopped. Nothing is tried again by itself.

    Args:
        breaker: which one, by the name of its setting: tool_calls, wall_time, repeats, errors, idle, tokens, replies,
            max_turns.
        count: how far it had come.
        limit: how far it may come.
        last: what the role did last, a line a tool call, oldest first.
    """

    code = "BREAKER"

    def __init__(
        self, message: str, *, breaker: str, count: int, limit: int, last: tuple[str, ...] = (), hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.breaker = breaker
        self.count = count
        self.limit = limit
        self.last = last


class CouncilFailed(NoUsableReply):
    """Voices were asked and none gave anything that counts, or the synthesis did not. There is no verdict."""

    code = "COUNCIL_FAILED"


class PreflightFailed(SwarmError):
    """A check before a phase found what stops it; nothing was spent.

    Args:
        problems: what stops it, one sentence each, beginning with the name of the check.
    """

    exit_code = 1
    code = "PREFLIGHT"

    def __init__(self, message: str, *, problems: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = problems


class SelfCodingBlocked(SwarmError):
    """The architect called tools that write project files outside of an escalated attempt, once too often in a run."""

    exit_code = 1
    code = "SELF_CODING_BLOCK"


class Stopped(SwarmError):
    """The user asked for a stop, at the next safe point or at once. The project is paused and resumable.

    Args:
        until: when the limit ends that was being waited for; aware. None: no limit was.
    """

    exit_code = 130
    code = "STOPPED"

    def __init__(self, message: str, *, until: datetime | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.until = until


class MissingRequirement(SwarmError):
    """A tool, a key or a version that was asked for is not there."""

    exit_code = 6
    code = "MISSING_REQUIREMENT"


class ToolKilled(MissingRequirement):
    """A tool, or the runner of the tests, was ended from outside each time that it was run: no word about the code."""

    code = "TOOL_KILLED"


class StoreAway(MissingRequirement):
    """What keeps the state of the team server (`[server] store`) cannot be reached.

    Args:
        retry_after_s: after how many seconds it is worth another look.
    """

    code = "STORE_AWAY"

    def __init__(self, message: str, *, retry_after_s: int = 5, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s
