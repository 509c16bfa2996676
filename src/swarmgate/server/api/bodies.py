"""Bodies of requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StrictBool

from swarmgate.domain.base import Frozen
from swarmgate.server.accounts.model import AccountName, Role
from swarmgate.server.http.json_objects import JsonObject

_LONGEST = 100_000
"""Characters of a text."""


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Words = Annotated[str, Field(min_length=1, max_length=_LONGEST, pattern=r"\S"), AfterValidator(_said)]
"""A text that says something."""
Reason = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S"), AfterValidator(_said)]
"""Why something is decided; it goes on record."""
Note = Annotated[str, Field(max_length=10_000)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
OptionalSlug = Annotated[str, Field(pattern=r"^([a-z0-9][a-z0-9_.-]{0,63})?$")]
Goal = Annotated[str, Field(pattern=r"^[cg]-[0-9a-f]{12}$", description="Id of a goal.")]
Branch = Annotated[str, Field(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_./+-]{0,199})?$")]
Pattern = Literal["discussion", "chat", "debate", "dispatch", "decision", "critique", "orchestration"]


class Body(Frozen):
    """A body; a key that it does not know is an error. It is built at once: FastAPI wraps it before its first use."""

    model_config = ConfigDict(use_attribute_docstrings=True, defer_build=False)


class LogIn(Body):
    """Name and password of an account."""

    name: str = Field(min_length=1, max_length=100, examples=["ada"])
    password: str = Field(min_length=1, max_length=1000, examples=["several words in a row"])


class Refresh(Body):
    """The refresh token of a session; it is used up."""

    refresh_token: str = Field(min_length=1, max_length=1000)


class NewPassword(Body):
    """Another password."""

    password: str = Field(min_length=12, max_length=1000)
    current: str = Field("", max_length=1000)
    """The one that the account has; empty: it has none yet."""


class NewKey(Body):
    """An API key that is to be made."""

    name: str = Field(min_length=1, max_length=100, pattern=r"\S", examples=["ci"])
    """What it is for."""
    expires: AwareDatetime | None = None
    """When it ends, with a zone; none: never."""


class NewAccount(Body):
    """An account that is to be made."""

    name: AccountName = Field(examples=["ada"])
    """What it logs in by."""
    roles: dict[str, Role] = Field(default_factory=dict, examples=[{"*": "viewer", "shop": "operator"}])
    """By the id of a repository; `*` is all of them."""
    password: str = Field("", max_length=1000)
    """Empty: it logs in by links."""


class ChangedAccount(Body):
    """What is to be changed of an account; what is left out stays as it is."""

    name: AccountName | None = None
    roles: dict[str, Role] | None = None
    disabled: StrictBool | None = None


class NewRepository(Body):
    """A repository that is to be registered."""

    source: str = Field(min_length=1, max_length=2000, examples=["/srv/git/shop", "https://git.example.org/shop.git"])
    """An absolute path on the server's machine, or an address (https, ssh, file)."""
    name: str = Field("", max_length=200)
    """As people call it; empty: as its folder is called."""
    id: OptionalSlug = ""
    """Empty: made of the name."""
    base: Branch = ""
    """The branch that goals begin on; empty: the one that is checked out there."""


class ChangedRepository(Body):
    """What is to be changed of a repository; what is left out stays as it is."""

    name: str | None = Field(None, min_length=1, max_length=200, pattern=r"\S")
    base: Branch | None = None


class NewGoal(Body):
    """A goal that is to be planned."""

    repo: Slug = Field(examples=["shop"])
    """Id of its repository."""
    text: Words = Field(examples=["Build JWT auth"])
    """What is wanted."""
    spec: str = Field("", max_length=500_000)
    """A specification, as text."""
    source: str = Field("", max_length=500)
    """The name of the file that it is from."""


class Revision(Body):
    """How the plan is to be changed."""

    text: Words = Field(examples=["Split task 1.2: tokens first, then the endpoint."])


class Abandonment(Body):
    """Why a goal is ended before its work is done."""

    reason: Reason


class NewPullRequest(Body):
    """A pull request that is to be opened."""

    title: str = Field("", max_length=250)
    """Empty: that of the plan."""
    base: Branch = ""
    """The branch that it is for; empty: the one that the work began on."""
    remote: str = Field("", pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?$")
    """The name of a remote; empty: as git has it."""
    draft: StrictBool = False
    """Whether the goal may be unfinished."""
    cost: StrictBool = False
    """Whether the description names the cost."""
    check: StrictBool = False
    """Only describe it; nothing is pushed."""


class Retry(Body):
    """That a task, or a phase, is tried again."""

    note: Note = ""
    """Goes to architect and coder, or to the reviewers of the phase."""


class Decided(Body):
    """A decision that needs a reason."""

    reason: Reason


class Undo(Body):
    """That a task is taken back."""

    reason: Note = ""
    with_dependents: StrictBool = False
    """Take back what builds on it, too, first."""


class Decision(Body):
    """What is decided about what waits for approval."""

    decision: Literal["approve", "revise"]
    text: str = Field("", max_length=_LONGEST)
    """What is to be changed: of `revise`, and of nothing else."""
    go_on: StrictBool = True
    """Whether the work goes on at once; in a checkout in which somebody works it does not."""


class Answer(Body):
    """The answer to a question: a text, an option, or neither of them with `decline`."""

    text: str = Field("", max_length=_LONGEST)
    option: int = Field(0, strict=True, ge=0, le=1000)
    """Which of its options, from 1; 0: none."""
    decline: StrictBool = False
    """Leave it to whoever asked."""
    go_on: StrictBool = True
    """Whether the work goes on at once where nothing else is asked."""


class NewRun(Body):
    """That the work on a goal goes on."""

    goal: Goal
    until: Literal["", "phase", "blocked", "done"] = ""
    """How far; empty: as the settings of the project say."""
    stash: StrictBool = False
    """Put uncommitted changes aside instead of refusing to start."""


class NewCouncil(Body):
    """A council that is to be held."""

    pattern: Pattern = Field(examples=["decision"])
    request: JsonObject = Field(examples=[{"question": "Do we move to uv?", "participants": ["advocate", "skeptic"]}])
    """The arguments of the pattern, as its page has them; no `id`: ids are the server's."""
    repo: OptionalSlug = ""
    """In whose scratch project it is held; empty: that of the goal, or the only repository that there is."""
    goal: str = Field("", pattern=r"^([cg]-[0-9a-f]{12})?$")
    """In whose project it is held."""


class ResumedCouncil(Body):
    """That a council goes on; what all of it may use now, with what it used before."""

    tokens: int | None = Field(None, strict=True, ge=1, le=10**12)
    usd: float | None = Field(None, gt=0, le=10**6, allow_inf_nan=False)


class PersonalAnswer(Body):
    """The vote of a person that a decision waits for."""

    vote: JsonObject = Field(examples=[{"stand": "agree", "level": 0.8, "reason": "It is simpler."}])
    person: str = Field("", max_length=100)
    """Whose seat; empty: that of the account, or the only one that is waited for."""


class GateRun(Body):
    """A run of the gates over the work tree of a goal; no file is changed."""

    goal: Goal
    base: str = Field("", max_length=200, pattern=r"^([A-Za-z0-9_][A-Za-z0-9_./+~^-]{0,199})?$")
    """Judge what changed since this revision; empty: what is not committed."""
    everything: StrictBool = False
    """Judge every file whole."""
    only: tuple[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")], ...] = Field((), max_length=50)
    """These gates; empty: all that are on."""
