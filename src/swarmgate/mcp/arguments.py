"""The arguments of the tools: what an agent may ask for, with the limits of each."""

from typing import Annotated, Literal

from pydantic import Field

from swarmgate.domain.base import Frozen

_LINE, _TEXT, _MANY = 1_000, 20_000, 200
"""The longest short text and the longest text, in characters, and the most items of a list."""

Short = Annotated[str, Field(max_length=_LINE)]
Words = Annotated[str, Field(min_length=1, max_length=_TEXT)]
Names = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=_LINE)], ...], Field(max_length=_MANY)]
After = Annotated[str, Field(max_length=80, description="`next` of the answer before, for the next page of it.")]
Revision = Annotated[str, Field(max_length=200, pattern=r"^([^-\x00-\x20\x7f][^\x00-\x20\x7f]*)?$")]
"""A revision of git: no option, no blanks."""
Tokens = Annotated[int | None, Field(ge=1, description="Tokens that all of it may use; [council] total_tokens.")]
Usd = Annotated[float | None, Field(ge=0, description="US dollars that all of it may use; [council] usd.")]
Files = Annotated[Names, Field(description="Files of the repository that it is about, from its root.")]
Diff = Annotated[Revision, Field(description="It is about the work tree's change against this revision.")]
Models = Annotated[Names, Field(description="Who takes part: ID or ID=provider/model; empty: as the settings say.")]


class Paged(Frozen):
    """Arguments of a tool whose answer may have several pages."""

    after: After = ""


class GatesRun(Paged):
    """What the gates judge: by default what is not committed, untracked files included."""

    base: Annotated[Revision, Field(description="Judge what differs from where HEAD and this revision parted.")] = ""
    staged: Annotated[bool, Field(description="Judge what is staged, and nothing else.")] = False
    everything: Annotated[bool, Field(description="Judge every file whole.")] = False
    paths: Annotated[
        Names, Field(description="Judge these files and folders whole; with base or staged: their change.")
    ] = ()
    only: Annotated[Names, Field(description="Only these gates, by id.")] = ()
    skip: Annotated[Names, Field(description="Not these gates.")] = ()
    fix: Annotated[bool, Field(description="Mend in the files what is safe to mend, before they are judged.")] = False


class GatesExplain(Frozen):
    """A rule or a gate."""

    rule: Annotated[str, Field(min_length=1, max_length=200, description="As findings name it, or a gate's id.")]


class GuardCheck(Frozen):
    """A command line; it is not run."""

    command: Annotated[str, Field(min_length=1, max_length=_TEXT, description="The line, as a shell would read it.")]


class Nothing(Paged):
    """No arguments but the page."""


class Show(Paged):
    """A task."""

    task: Annotated[str, Field(min_length=1, max_length=40, description="Its id in the plan, such as 1.2.")]


class History(Paged):
    """Which events."""

    task: Annotated[str, Field(max_length=40, description="Only those of this task; empty: all.")] = ""


class Debate(Paged):
    """A question for several voices, with a vote at the end."""

    question: Annotated[Words, Field(description="What is debated.")]
    participants: Models = ()
    cast: Annotated[str, Field(max_length=80, description="A shipped cast, such as vision-alignment.")] = ""
    rounds: Annotated[int | None, Field(ge=1, le=5, description="The last one is the vote.")] = None
    files: Files = ()
    diff: Diff = ""
    tokens: Tokens = None
    usd: Usd = None


class Discuss(Paged):
    """A topic for experts with opposing interests; nobody votes."""

    topic: Annotated[Words, Field(description="What is discussed.")]
    mode: Annotated[Literal["deep", "standard", "lightweight"] | None, Field(description="How thoroughly.")] = None
    rounds: Annotated[int | None, Field(ge=1, le=10, description="The most rounds.")] = None
    files: Files = ()
    diff: Diff = ""
    tokens: Tokens = None
    usd: Usd = None


class Decide(Paged):
    """A question for a vote or a consensus."""

    question: Annotated[Words, Field(description="What is decided.")]
    participants: Models = ()
    strategy: Annotated[
        Literal["unanimous", "majority", "supermajority", "weighted", "facilitator", "approval", "ranked"] | None,
        Field(description="How it is counted; null: [council.decision]."),
    ] = None
    options: Annotated[Names, Field(description="What approval and ranked choose among; 2 to 10.")] = ()
    rounds: Annotated[int | None, Field(ge=1, le=10, description="The most rounds.")] = None
    files: Files = ()
    diff: Diff = ""
    tokens: Tokens = None
    usd: Usd = None


class Plan(Paged):
    """A goal to be planned, or answers of the person to the architect's questions."""

    goal: Annotated[str, Field(max_length=_TEXT, description="What is wanted; empty: go on with that which asks.")] = ""
    spec: Annotated[str, Field(max_length=400_000, description="The text of a specification, if there is one.")] = ""
    answers: Annotated[
        dict[int, Words], Field(max_length=50, description="By the number of the question, in the person's words.")
    ] = {}  # noqa: RUF012 - frozen by pydantic, which copies it


class Run(Paged):
    """How long the loop works."""

    seconds: Annotated[
        float,
        Field(ge=0, le=86_400, description="Stop at the next safe point after that; 0: until it is a person's turn."),
    ] = 0
