"""Tests the consensus strategies of decisions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.council.decision.model import (
    THRESHOLDS,
    Contribution,
    Count,
    Decision,
    DecisionRound,
    DecisionSeat,
    Stand,
    Strategy,
)
from swarmgate.council.decision.tally import converged, count, exact

NAMES = ("ann", "bob", "cy", "dee", "eve")
OPTIONS = ("A1", "B2", "C3", "D4")


def decision(strategy: str, weights: tuple[float, ...] = (1.0,) * 5, **more: Any) -> Decision:
    seats = tuple(DecisionSeat(id=name, weight=weight) for name, weight in zip(NAMES, weights, strict=False))
    return Decision(id="d", question="q", participants=seats, strategy=Strategy(strategy), options=OPTIONS, **more)


def said(who: str, stand: str | None = None, level: float | None = None, **more: Any) -> Contribution:
    agreement = {"agree": 0.8, "disagree": 0.2, "abstain": 0.5}.get(stand or "") if level is None else level
    taken = Stand(stand) if stand else None
    return Contribution(id=f"m-{who}", round=1, participant=who, stand=taken, agreement=agreement, **more)


def stood(*stands: str | tuple[str, float]) -> list[Contribution]:
    """Contributions of ann, bob ...: a stand, or a stand and a level; `-`: excluded."""
    made = []
    for who, each in zip(NAMES, stands, strict=False):
        stand, level = each if isinstance(each, tuple) else (each, None)
        made.append(said(who, excluded="no answer") if stand == "-" else said(who, stand, level))
    return made


def approved(*ballots: str) -> list[Contribution]:
    return [
        said(who, approves=tuple(o for o in OPTIONS if o[0] in each)) for who, each in zip(NAMES, ballots, strict=False)
    ]


def ranked(*ballots: str) -> list[Contribution]:
    """Ballots such as `BA`: B2 before A1."""
    named = {option[0]: option for option in OPTIONS}
    return [said(who, ranking=tuple(named[o] for o in each)) for who, each in zip(NAMES, ballots, strict=False)]


@pytest.mark.parametrize(
    ("strategy", "stands", "consensus", "score"),
    [
        ("unanimous", ["agree"] * 3, True, 0.8),
        ("unanimous", ["agree", "agree", "abstain"], False, 0.0),
        ("unanimous", ["agree", "agree", "-"], True, 0.8),
        ("unanimous", ["agree", ("agree", 0.5)], True, 0.5),
        ("majority", ["agree", "agree", "disagree"], True, 2 / 3),
        ("majority", ["agree", "disagree"], False, 0.5),
        ("majority", ["agree", "abstain"], False, 0.5),
        ("majority", ["agree", "agree", "abstain", "disagree"], False, 0.5),
        ("majority", ["agree", "agree", "disagree", "disagree", "-"], False, 0.5),
        ("majority", ["-", "-"], False, 0.0),
        ("majority", ["agree", "-"], True, 1.0),
        ("majority", ["agree", "-", "-"], False, 1.0),
        ("majority", ["agree", "agree", "-", "-", "-"], False, 1.0),
        ("unanimous", ["agree", "-", "-"], False, 0.8),
        ("supermajority", ["agree", "-", "-"], False, 1.0),
        ("weighted", [("agree", 0.9), "-", "-"], False, 0.9),
        ("facilitator", ["agree", "-", "-"], False, 0.8),
        ("supermajority", ["agree", "agree", "disagree"], True, 2 / 3),
        ("supermajority", ["agree", "agree", "abstain", "disagree"], False, 0.5),
        ("weighted", [("agree", 0.7)] * 3, True, 0.7),
        ("weighted", [("agree", 0.69)] * 3, False, 0.69),
        ("weighted", [("abstain", 0.9)] * 3, False, 0.9),
        ("facilitator", ["agree", "disagree", "disagree"], True, 0.8),
        ("facilitator", ["disagree", "agree", "agree"], False, 0.2),
        ("facilitator", ["abstain", "agree", "agree"], False, 0.5),
        ("facilitator", ["-", "agree", "agree"], False, 0.0),
    ],
)
def test_each_strategy_by_hand(strategy: str, stands: list[Any], consensus: bool, score: float) -> None:  # noqa: FBT001 - a table
    counted = count(decision(strategy, facilitator="ann"), stood(*stands))
    assert counted.consensus is consensus
    assert counted.score == pytest.approx(score)
    assert counted.why


@pytest.mark.parametrize(
    ("ballots", "choice", "why"),
    [
        (["AB", "B", "BC"], "B2", "3 of 3 approve of B2"),
        (["A", "B", ""], "", "a tie at the top: 1 of 3 approve of A1, B2 each"),
        (["AB", "AB", "AB"], "", "a tie at the top: 3 of 3 approve of A1, B2 each"),
        (["A", "A", "B", "C"], "", "2 of 4 approve of A1; it takes more than half"),
        (["", ""], "", "nobody approves of any option"),
    ],
)
def test_approval_by_hand(ballots: list[str], choice: str, why: str) -> None:
    counted = count(decision("approval"), approved(*ballots))
    assert (counted.choice, counted.consensus, counted.why) == (choice, bool(choice), why)


@pytest.mark.parametrize(
    ("ballots", "choice", "why"),
    [
        (["A", "A", "B"], "A1", "A1 is first on 2 of 3 ballots"),
        (["AB", "AB", "BA", "BA", "CB"], "B2", "B2 is first on 3 of 5 ballots without D4, C3"),
        (["A", "B"], "", "a tie without C3, D4: A1, B2 are first on 1 of 2 ballots each"),
        (["A", "", ""], "", "A1 is first on 1 of 3 ballots without B2, C3, D4; it takes more than half"),
        (["A", "A", ""], "A1", "A1 is first on 2 of 3 ballots"),
        (["", ""], "", "no ballot names an option"),
        (["AB", "AB", "BC", "BC", "CD"], "", "a tie without D4, C3: A1, B2 are first on 2 of 5 ballots each"),
    ],
)
def test_ranked_by_hand(ballots: list[str], choice: str, why: str) -> None:
    counted = count(decision("ranked"), ranked(*ballots))
    assert (counted.choice, counted.consensus, counted.why) == (choice, bool(choice), why)


def test_few_that_count_decide_no_vote() -> None:
    for strategy, ballots in (("approval", approved("A", "", "")), ("ranked", ranked("A", "", ""))):
        few = [ballots[0], *(each.model_copy(update={"excluded": "no answer"}) for each in ballots[1:])]
        counted = count(decision(strategy), few)
        assert (counted.consensus, counted.choice) == (False, "")
        assert counted.why.startswith("only 1 of 3 count, and a consensus needs 2 of them; ")


def test_weights_of_those_that_count_may_sum_to_nothing() -> None:
    counted = count(decision("weighted", (0.0, 1.0)), stood("agree", "-"))
    assert (counted.consensus, counted.why) == (False, "the weights of those that count sum to 0")
    lone = count(decision("weighted", (0.0, 1.0)), stood(("agree", 1.0), ("abstain", 0.9)))
    assert not lone.consensus  # the only one who agrees has no weight


ROUNDED = ((0.1 + 0.2, "3/10"), (1 - 1 / 3, "2/3"), (0.6667, "0.6667"), (0.30000000001, "0.30000000001"))


@pytest.mark.parametrize(
    ("number", "fraction"), [(2 / 3, "2/3"), (5 / 6, "5/6"), (0.7, "7/10"), (0.12345, "0.12345"), *ROUNDED]
)
def test_numbers_stand_for_the_fraction_that_was_meant(number: float, fraction: str) -> None:
    assert exact(number) == Fraction(fraction)


def test_five_of_six_reach_five_sixths() -> None:
    names = [f"p{n}" for n in range(6)]
    seats = tuple(DecisionSeat(id=name) for name in names)
    asked = Decision(id="d", question="q", participants=seats, strategy=Strategy.SUPERMAJORITY, threshold=5 / 6)
    contributions = [said(name, "agree" if name != "p0" else "disagree") for name in names]
    assert count(asked, contributions).consensus
    assert not count(asked.model_copy(update={"threshold": 0.84}), contributions).consensus


def test_rounds_are_the_same_where_nobody_moved() -> None:
    def before(*contributions: Contribution) -> DecisionRound:
        return DecisionRound(
            number=1, proposal="", contributions=contributions, count=Count(consensus=False, score=0, bar=0)
        )

    asked = decision("majority")
    first = before(*stood("agree", ("disagree", 0.2)))
    assert converged(asked, first, stood("agree", ("disagree", 0.24)))
    assert not converged(asked, first, stood(("agree", 0.85), ("disagree", 0.25)))  # 0.05 is not below 0.05
    assert not converged(asked, first, stood("agree", "abstain"))
    assert not converged(asked, first, stood("agree", "-"))
    assert not converged(asked, before(*stood("agree", "-")), stood("agree", "-"))
    assert not converged(asked, first, stood(("agree", 0.6), ("disagree", 0.4)))  # the mean is the same
    assert not converged(asked, first, stood("agree"))
    assert not converged(decision("majority", settled=0), first, stood("agree", ("disagree", 0.2)))
    assert converged(decision("ranked"), before(*ranked("AB", "B")), ranked("AB", "B"))
    assert not converged(decision("ranked"), before(*ranked("AB", "B")), ranked("BA", "B"))
    assert converged(decision("approval"), before(*approved("AB")), approved("BA"))


# --- laws ---

UNIT = st.integers(0, 100).map(lambda n: n / 100)


@st.composite
def contributions(draw: st.DrawFn) -> list[Contribution]:
    made = []
    for who in NAMES[: draw(st.integers(1, 5))]:
        stand = draw(st.sampled_from(list(Stand)))
        bounds = {Stand.AGREE: (50, 100), Stand.DISAGREE: (0, 50), Stand.ABSTAIN: (0, 100)}[stand]
        level = draw(st.integers(*bounds)) / 100
        left_out = "no answer" if draw(st.integers(0, 4)) == 0 else ""
        ranking = tuple(draw(st.permutations(OPTIONS))[: draw(st.integers(0, 4))])
        approves = tuple(draw(st.sets(st.sampled_from(OPTIONS))))
        made.append(said(who, stand, level, excluded=left_out, ranking=ranking, approves=approves))
    return made


@pytest.mark.slow
@settings(max_examples=40)
@given(contributions(), st.sampled_from(list(Strategy)), st.lists(UNIT, min_size=5, max_size=5), st.randoms())
def test_the_order_of_participants_changes_nothing(
    made: list[Contribution], strategy: Strategy, weights: list[float], chance: Any
) -> None:
    asked = decision(strategy, tuple(weights), facilitator="ann")
    shuffled, seats = list(made), list(asked.participants)
    chance.shuffle(shuffled)
    chance.shuffle(seats)
    assert count(asked.model_copy(update={"participants": tuple(seats)}), shuffled) == count(asked, made)


@settings(max_examples=40)
@given(contributions(), UNIT.filter(bool))
def test_equal_weights_give_the_mean(made: list[Contribution], weight: float) -> None:
    levels = [exact(each.agreement or 0) for each in made if not each.excluded]
    counted = count(decision("weighted", (weight,) * 5), made)
    assert counted.score == float(sum(levels, Fraction(0)) / len(levels) if levels else 0)


@settings(max_examples=40)
@given(contributions(), UNIT.filter(bool), st.lists(UNIT.filter(bool), min_size=5, max_size=5))
def test_unanimous_implies_every_other(made: list[Contribution], threshold: float, weights: list[float]) -> None:
    """With one threshold for all, weights above 0, and nobody excluded but others than the facilitator, ann."""
    made = [made[0].model_copy(update={"excluded": ""}), *made[1:]]
    lifted = [
        each.model_copy(update={"stand": Stand.AGREE, "agreement": max(each.agreement or 0, 0.5)}) for each in made
    ]
    for those in (made, lifted):
        asked = decision("unanimous", tuple(weights), threshold=threshold, facilitator="ann")
        if count(asked, those).consensus:
            for other in ("majority", "supermajority", "weighted", "facilitator"):
                assert count(asked.model_copy(update={"strategy": Strategy(other)}), those).consensus


@settings(max_examples=30)
@given(contributions(), st.sampled_from(OPTIONS))
def test_what_all_want_wins(made: list[Contribution], option: str) -> None:
    alone = [each.model_copy(update={"approves": (option,), "excluded": ""}) for each in made]
    assert count(decision("approval"), alone).choice == option
    first = [
        each.model_copy(update={"ranking": (option, *(o for o in each.ranking if o != option)), "excluded": ""})
        for each in made
    ]
    assert count(decision("ranked"), first).choice == option


@settings(max_examples=40)
@given(contributions(), st.sampled_from([each for each in Strategy if each not in ("approval", "ranked")]))
def test_who_abstains_never_agrees(made: list[Contribution], strategy: Strategy) -> None:
    asked = decision(strategy, facilitator="ann")
    abstained = [each.model_copy(update={"stand": Stand.ABSTAIN}) for each in made]
    counted = count(asked, abstained)
    assert (counted.consensus, counted.agree) == (False, 0)
    silent = [each.model_copy(update={"excluded": "no answer"}) for each in made]
    assert not count(asked, silent).consensus


@settings(max_examples=40)
@given(contributions(), st.sampled_from(list(THRESHOLDS)), UNIT.filter(bool))
def test_the_score_is_what_was_held_against_the_bar(
    made: list[Contribution], strategy: Strategy, threshold: float
) -> None:
    counted = count(decision(strategy, threshold=threshold), made)
    if counted.consensus:
        assert counted.score >= counted.bar - 1e-12
    assert counted.agree + counted.disagree + counted.abstain + counted.excluded == len(made)
