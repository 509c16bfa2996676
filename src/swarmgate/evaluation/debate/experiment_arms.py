"""The arms of the debate experiment: their participants, models, and the order of items.

Equal calls: a debate of P participants that held R rounds took P x R turns of participants; the parallel arm judges the
same item with P x R independent ballots, by the same models as often as they spoke in the debate. R is what the debate
of that item really took, so one that converged early is compared with as many ballots fewer. `single` is one ballot: it
is cheaper, and is shown beside the others only.

Which model is dealt first is drawn, the good and the bad items each among themselves, and moves on by one each repeat:
where repeats are a multiple of the models, every model has every seat of every item equally often. The place of an item
in its file and its label have no say in who judges it: models that know nothing come out at a half in every arm.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, zip_longest
from typing import NamedTuple

from pydantic import Field

from swarmgate.config.council import Council
from swarmgate.council.debate.model import Debate
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import LEAST_SEATS, MOST_ROUNDS, MOST_SEATS, Seat
from swarmgate.errors import UsageError
from swarmgate.evaluation.debate.fixtures import Item

LEAST_REPEATS = 3
"""Judgements of an item by each arm where nobody says how many: in fewer, chance alone passes for a lift."""

MOST_REPEATS = 100
"""Judgements of an item by each arm at the most."""


class Arm(StrEnum):
    """A way to judge an item."""

    SINGLE = "single"
    PARALLEL = "parallel"
    DEBATE = "debate"


class Setup(Frozen):
    """What is run: all that the result depends on but the items and the models' settings.

    `seed` is of the order of the items, of the choice where `limit` is fewer than all, and of the bootstrap.
    """

    models: tuple[str, ...] = Field(min_length=1)
    arms: tuple[Arm, ...] = tuple(Arm)
    rounds: int = Field(2, ge=1, le=MOST_ROUNDS)
    participants: int = Field(3, ge=LEAST_SEATS, le=MOST_SEATS)
    repeats: int = Field(LEAST_REPEATS, ge=1, le=MOST_REPEATS)
    seed: int = 0
    limit: int | None = Field(None, ge=1)

    @property
    def turns(self) -> int:
        """Turns of participants in a debate that does not end early, and so ballots of the parallel arm."""
        return self.rounds * self.participants

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the numbers doubtful."""
        if self.repeats % len(self.models) == 0:
            return ()
        even = even_repeats(len(self.models), self.repeats)
        uneven = f"{self.repeats} repeats are no multiple of the {len(self.models)} models"
        return (f"{uneven}: not every model judges an item from each seat equally often; --repeats {even} is one",)

    @property
    def most_calls(self) -> int:
        """Calls that one item takes in one repeat where no participant has to be asked once more."""
        cost = {Arm.SINGLE: 1, Arm.PARALLEL: self.turns, Arm.DEBATE: self.turns}
        return sum(cost[arm] for arm in self.arms)


def even_repeats(models: int, least: int = LEAST_REPEATS) -> int:
    """The fewest repeats, from `least` on, in which each of so many models has each seat of an item equally often.

    Of more models than there may be repeats, that most.
    """
    return min(MOST_REPEATS, -(-least // models) * models)


class Part(NamedTuple):
    """A part of the items: of `of` parts the one of that number, from 1 on.

    Each item has the seats that it has in the whole, so that the parts together are the whole.
    """

    number: int = 1
    of: int = 1

    @classmethod
    def named(cls, text: str) -> Part:
        """The part that is written `2/8`; of no text all items.

        Raises:
            UsageError: it is none.
        """
        number, _, of = (text or "1/1").partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise UsageError(f"--part: {text!r} is no part of the items", hint="The second of eight is written 2/8.")
        return cls(int(number), int(of))


WHOLE = Part()
"""All items."""


@dataclass(frozen=True, slots=True)
class Job:
    """One item in one repeat, judged by every arm; `first` is the number of the model that is dealt first."""

    item: Item
    repeat: int
    first: int


def jobs(items: Sequence[Item], setup: Setup, part: Part = WHOLE) -> Iterator[Job]:
    """Every item of a part in every repeat, each repeat in an order of its own that the seed fixes."""
    chosen = chosen_items(items, setup)
    mine = {item.id for item in chosen[part.number - 1 :: part.of]}
    first = _dealt_first(chosen, setup)
    for repeat in range(1, setup.repeats + 1):
        order = list(chosen)
        random.Random(f"{setup.seed}/{repeat}").shuffle(order)  # noqa: S311 - a repeatable order, no secret
        for item in order:
            if item.id in mine:
                yield Job(item, repeat, (first[item.id] + repeat - 1) % len(setup.models))


def _dealt_first(chosen: Sequence[Item], setup: Setup) -> dict[str, int]:
    """By item the number of the model that is dealt first in repeat 1: drawn, and of each label as evenly as can be."""
    drawn = random.Random(f"{setup.seed}/deal").sample(chosen, len(chosen))  # noqa: S311 - no secret
    seen = Counter[str]()
    first = {}
    for item in drawn:
        first[item.id] = seen[item.label] % len(setup.models)
        seen[item.label] += 1
    return first


def chosen_items(items: Sequence[Item], setup: Setup) -> list[Item]:
    """The items that are judged: all, or `limit` of them at random, good and bad ones in turn while both last."""
    if setup.limit is None or setup.limit >= len(items):
        return list(items)
    shuffled = random.Random(f"{setup.seed}/limit").sample(items, len(items))  # noqa: S311 - no secret
    sides = [[item for item in shuffled if item.label == label] for label in ("bad", "good")]
    in_turn = [item for item in chain.from_iterable(zip_longest(*sides)) if item is not None]
    chosen_ids = {item.id for item in in_turn[: setup.limit]}
    return [item for item in items if item.id in chosen_ids]


def question(item: Item) -> str:
    """What every participant of every arm is asked; it says nothing of the label."""
    return _QUESTION.format(kind=item.kind)


_QUESTION = (
    "Is the {kind} below sound, so that it may go ahead as it stands? APPROVE it when it does what it has to do and "
    "nothing in it would do harm: what could be nicer is no reason to reject. REJECT it when it has a flaw that would "
    "do harm: wrong results, lost data, a security hole, an outage, a broken interface, cost out of hand."
)


def material(item: Item) -> str:
    """What the question is about: the context and the text. Neither id, label, reason nor category is in it."""
    about = f"# Context\n\n{item.context}\n\n" if item.context else ""
    return f"{about}# The {item.kind}\n\n{item.text}"


def debate_of(job: Job, setup: Setup, council: Council) -> Debate:
    """The debate of one item: no moderator, no synthesis; the majority decides and a tie rejects."""
    named = "\n".join((job.item.id, str(job.repeat), setup.model_dump_json()))
    return Debate(
        id=f"eval-{hashlib.sha256(named.encode()).hexdigest()[:16]}",
        question=question(job.item),
        material=material(job.item),
        seats=tuple(_debaters(job, setup)),
        rounds=setup.rounds,
        order=council.order,
        parent=False,
        tokens=council.tokens,
        timeout_s=council.timeout_s,
        similarity=council.similarity,
    )


def ballots_of(job: Job, setup: Setup, number: int) -> tuple[Seat, ...]:
    """The participants of independent ballots, without sides: the models of the debate's turns, round by round."""
    seats = _dealt(job, setup)
    models = [seats[at % len(seats)] for at in range(number)]
    return tuple(
        Seat(id=f"reviewer-{at}", model=model, brief=_REVIEWER, system=_ALONE)
        for at, model in enumerate(models, start=1)
    )


def _debaters(job: Job, setup: Setup) -> Iterator[Seat]:
    for at, model in enumerate(_dealt(job, setup)):
        name, brief = _SIDES[at % len(_SIDES)]
        of_many = f"-{at // len(_SIDES) + 1}" if setup.participants > len(_SIDES) else ""
        yield Seat(id=f"{name}{of_many}", model=model, brief=brief, system=_ALONE)


def _dealt(job: Job, setup: Setup) -> list[str]:
    """The models of the seats, in their order."""
    return [setup.models[(job.first + at) % len(setup.models)] for at in range(setup.participants)]


_ALONE = "No files and no tools are at hand here: judge by what you are shown alone."
_REVIEWER = "Judge for yourself. Look for flaws that would do harm, and for what speaks for the proposal."
_SIDES = (
    ("advocate", "Make the strongest honest case for the proposal. Admit a flaw that would do harm."),
    ("challenger", "Look for the flaw that would do harm, and show how it comes about; where there is none, say so."),
    ("assessor", "Take no side. Test what the others claim against the text, and say what holds."),
)
"""The seats of a debate, in turn; the first two are those of a review by debate."""
