"""The pages of councils: what was said, who countered whom, how they voted; and those that a page began."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.council.debate_script import debating
from tests.council.discussion_script import discussing
from tests.project import Project, rule, until
from tests.server.conftest import Running, play
from tests.server.pages.browsers import screen
from tests.server.pages.conftest import WORDS, Visits

from swarmgate.server.accounts.model import Role

TOPIC = "How do <b>keys</b> rotate?"
SHORT = ("--mode", "lightweight", "--rounds", "1")


@pytest.mark.slow
def test_a_discussion_is_read_and_its_argument_is_drawn(
    visit: Visits, server: Running, repo: str, project: Project, tmp_path: Path
) -> None:
    project.play(*discussing())
    project.swarm("discuss", TOPIC, *SHORT, "--yes")
    ada = visit()
    page = ada.get("/councils")
    (place,) = re.findall(r'class="title" href="(/councils/[^"]+)"', page)
    shown = ada.get(place)
    assert "How do &lt;b&gt;keys&lt;/b&gt; rotate?" in shown
    assert 'aria-label="Who countered and who supported whom"' in shown
    assert "r1-msg-004 counters r1-msg-002" in shown
    assert "Rotate the keys, by a machine." in shown
    assert "So be it." in shown
    assert "Both want rotation and differ in who does it" in shown
    assert re.search(r"<strong>contrarian</strong><span>attack</span><span>round 1</span>", shown)
    accounts = server.app.state.accounts
    accounts.set_password(accounts.create("eve", roles={"*": Role.VIEWER}).id, WORDS)
    with screen(server.url, tmp_path / "profile", width=360) as at:
        at.open(f"/login?next={place}")
        at.fill("[name=name]", "eve")
        at.fill("[name=password]", WORDS)
        at.click("button", "Sign in")
        at.says("Transcript")
        at.picture("13-council")
        assert at.said() == []


@pytest.mark.slow
def test_a_vote_is_a_row_and_a_council_is_begun_by_a_form(
    visit: Visits, server: Running, repo: str, project: Project
) -> None:
    stands = [
        rule("participant", "contribute", {"text": json.dumps({"agreement": 0.9, "stand": "agree"})}, participant=who)
        for who in ("ops", "dev")
    ]
    play(project, *stands, rule("participant", "facilitate", {"text": json.dumps({"proposal": "We do it."})}))
    ada = visit()
    answer = ada.send(
        "/councils", "/councils", pattern="decision", place=repo, question="Do we move?", participants="ops, dev"
    )
    place = answer.headers["location"]
    assert ada.told(answer) == "The council begins."
    until(lambda: "complete" in ada.get(place), 90)
    shown = ada.get(place)
    assert re.search(r'<td data-of="participant">ops</td>\s*<td data-of="stand">agree</td>', shown), shown
    refused = ada.send("/councils", "/councils", pattern="critique", place=repo, question="?", participants="ops")
    assert "participants" in ada.told(refused)


@pytest.mark.slow
def test_a_decision_that_waits_for_a_person_takes_their_stand(
    visit: Visits, repo: str, project: Project, server: Running
) -> None:
    dev = rule("participant", "contribute", {"text": json.dumps({"agreement": 0.9, "stand": "agree"})})
    play(project, dev, rule("participant", "facilitate", {"text": json.dumps({"proposal": "We do it."})}))
    ada = visit()
    begun = ada.send(
        "/councils", "/councils", pattern="decision", place=repo, question="Now?", participants="dev", people="ada"
    )
    place = begun.headers["location"]
    until(lambda: "It waits for you" in ada.get(place), 90)
    assert "stand" in ada.told(ada.send(place, f"{place}/answer", text="So be it."))
    assert ada.told(ada.send(place, f"{place}/answer", stand="agree", text="So be it.")) == "Said."
    until(lambda: "complete" in ada.get(place), 90)


@pytest.mark.slow
def test_a_ranked_vote_is_given_in_order_and_without_scripts(
    visit: Visits, server: Running, repo: str, project: Project, tmp_path: Path
) -> None:
    ranks = rule("participant", "contribute", {"text": json.dumps({"ranking": ["uv", "pip, as it is"]})})
    play(project, ranks, rule("participant", "facilitate", {"text": json.dumps({"proposal": "uv"})}))
    ada = visit()
    options = ("pip, as it is", "uv", "<b>poetry</b>")
    request = {"question": "Which?", "participants": ["dev"], "humans": ["ada", "bo"], "strategy": "ranked"}
    begun = ada.api("/v1/councils", pattern="decision", repo=repo, request={**request, "options": options})
    place = f"/councils/{begun['id']}"
    until(lambda: "It waits for you" in ada.get(place), 90)
    accounts = server.app.state.accounts
    accounts.set_password(accounts.create("eve", roles={"*": Role.APPROVER}).id, WORDS)
    with screen(server.url, tmp_path / "profile", width=360, scripts=False) as at:
        at.open(f"/login?next={place}")
        at.fill("[name=name]", "eve")
        at.fill("[name=password]", WORDS)
        at.click("button", "Sign in")
        assert at.find("legend", "Your order")
        at.picture("17-ballot")
    page = ada.get(place)
    assert page.count('<select id="rank-') == 3
    assert "<option>&lt;b&gt;poetry&lt;/b&gt;</option>" in page
    assert re.search(r"<option selected>ada</option>\s*<option>bo</option>", page)
    twice = ada.send(place, f"{place}/answer", person="ada", options=["uv", "uv"])
    assert "uv" in ada.told(twice)
    assert ada.told(ada.send(place, f"{place}/answer", person="ada", options=["uv", "pip, as it is", ""])) == "Said."
    until(lambda: "It waits for you" in (page := ada.get(place)) and "Whose vote it is" not in page, 90)
    assert ada.told(ada.send(place, f"{place}/answer", options=["", "pip, as it is"])) == "Said."
    until(lambda: "complete" in ada.get(place), 90)
    assert "uv, pip, as it is" in ada.get(place)


@pytest.mark.slow
def test_who_countered_whom_in_a_debate_is_drawn_by_what_votes_cite(visit: Visits, repo: str, project: Project) -> None:
    project.play(*debating(votes={"skeptic": "REJECT"}))
    project.swarm("debate", "Do we ship?", "--participant", "advocate", "--participant", "skeptic", "--rounds", "2")
    ada = visit()
    (place,) = re.findall(r'class="title" href="(/councils/[^"]+)">Do we ship', ada.get("/councils"))
    shown = ada.get(place)
    assert 'aria-label="Who countered and who supported whom"' in shown
    assert "skeptic counters advocate: 1" in shown
    assert "r2-msg-002 counters r1-msg-001" in shown
    assert re.search(r'<td data-of="participant">skeptic</td>\s*<td data-of="vote">REJECT</td>', shown), shown


def test_a_council_that_is_not_there_is_a_page_that_says_so(visit: Visits) -> None:
    assert "There is nothing here" in visit().get("/councils/k-000000000000", 404)
