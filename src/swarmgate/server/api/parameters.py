"""Parameters that many routes share: ids, pages, conditions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

_GOAL = r"^[cg]-[0-9a-f]{12}$"
_TASK = r"^[1-9][0-9]{0,5}\.[1-9][0-9]{0,5}$"
_TASK_OR_PHASE = r"^[1-9][0-9]{0,5}(\.[1-9][0-9]{0,5})?$"
_REPO = r"^[a-z0-9][a-z0-9_.-]{0,63}$"
_GOAL_OR_NONE = r"^([cg]-[0-9a-f]{12})?$"
_TASK_OR_NONE = r"^([1-9][0-9]{0,5}\.[1-9][0-9]{0,5})?$"
_REPO_OR_NONE = r"^([a-z0-9][a-z0-9_.-]{0,63})?$"
_ACCOUNT = r"^a-[0-9a-f]{12}$"
_FILE = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$"
_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.~-]{0,99}$"

GoalId = Annotated[str, Path(alias="goal", description="Id of a goal.", pattern=_GOAL, examples=["g-3f2a9c1b7d04"])]
TaskId = Annotated[str, Path(alias="task", description="Id of a task.", pattern=_TASK, examples=["1.2"])]
TaskOrPhase = Annotated[
    str,
    Path(alias="task", description="A task, or number of a phase.", pattern=_TASK_OR_PHASE, examples=["1.2", "2"]),
]
RepoId = Annotated[str, Path(alias="repo", description="Id of a repository.", pattern=_REPO, examples=["shop"])]
AccountId = Annotated[
    str,
    Path(alias="account", description="Id of an account.", pattern=_ACCOUNT, examples=["a-0c1d2e3f4a5b"]),
]
KeyId = Annotated[
    str, Path(alias="key", description="Id of an API key.", pattern=r"^[0-9a-f]{12}$", examples=["0c1d2e3f4a5b"])
]
ApprovalId = Annotated[
    str,
    Path(
        alias="approval",
        description="Id of what waits for approval.",
        pattern=r"^[cg]-[0-9a-f]{12}-(plan|phase-[1-9][0-9]{0,5})-[0-9]{1,15}$",
        examples=["g-3f2a9c1b7d04-plan-5", "g-3f2a9c1b7d04-phase-1-42"],
    ),
]
QuestionId = Annotated[
    str,
    Path(
        alias="question",
        description="Id of a question.",
        pattern=r"^[cg]-[0-9a-f]{12}-q[1-9][0-9]{0,8}$",
        examples=["g-3f2a9c1b7d04-q1"],
    ),
]
CouncilId = Annotated[
    str, Path(alias="council", description="Id of a council.", pattern=_NAME, examples=["20261121-224500-3f2a"])
]
OperationId = Annotated[
    str,
    Path(
        alias="operation",
        description="Id of what takes a while.",
        pattern=r"^o-[0-9a-f]{12}$",
        examples=["o-0c1d2e3f4a5b"],
    ),
]
RuleId = Annotated[
    str,
    Path(
        alias="rule",
        description="A rule as reports name it, or a gate.",
        min_length=1,
        max_length=100,
        examples=["S602"],
    ),
]
AttemptNumber = Annotated[
    int, Path(alias="attempt", description="Number of an attempt, from 1.", ge=1, le=1_000_000, examples=[1])
]
FileName = Annotated[
    str,
    Path(
        alias="name",
        description="Name of a file of evidence.",
        pattern=_FILE,
        examples=["change.patch"],
    ),
]

OfRepo = Annotated[
    str,
    Query(
        alias="repo",
        description="Only of this repository.",
        pattern=_REPO_OR_NONE,
        examples=["shop"],
    ),
]
OfGoal = Annotated[
    str,
    Query(alias="goal", description="Only of this goal.", pattern=_GOAL_OR_NONE, examples=["g-3f2a9c1b7d04"]),
]
TheGoal = Annotated[str, Query(alias="goal", description="Whose.", pattern=_GOAL, examples=["g-3f2a9c1b7d04"])]
OfTask = Annotated[
    str,
    Query(
        alias="task",
        description="Only of this task.",
        pattern=_TASK_OR_NONE,
        examples=["1.2"],
    ),
]
After = Annotated[str, Query(description="`next` of the page before; empty: from the beginning.", max_length=100)]
AfterNumber = Annotated[
    str, Query(alias="after", description="Behind this number (`next` of the page before).", pattern=r"^[0-9]{0,15}$")
]
Limit = Annotated[int, Query(description="As many items at most.", ge=1, le=1000)]
