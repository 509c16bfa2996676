"""The pages in a real browser: from a login to a goal that is done, watched live, on a desk and on a phone."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, call, code, part, plan, rule
from tests.server.conftest import Running
from tests.server.pages.browsers import Screen, screen
from tests.server.pages.conftest import WORDS

from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow

DESK, PHONE = 1280, 360
AXE = "axe-core@4.10.3"
ASKED = {
    "question": "Which unit?",
    "options": ["metres", "feet"],
    "why": "The criteria do not say.",
    "assumption": "metres",
}


@pytest.fixture
def ada(server: Running, repo: str, emptied: None) -> str:
    """Somebody who may all, and logs in by a password."""
    accounts = server.app.state.accounts
    accounts.create("ada", roles={"*": Role.ADMIN}, password=WORDS)
    return repo


def log_in(at: Screen) -> None:
    at.open("/")
    assert "/login" in at.driver.current_url
    at.fill("[name=name]", "ada")
    at.fill("[name=password]", WORDS)
    at.click("button", "Sign in")
    at.says("Nothing waits for you")


@pytest.mark.parametrize(("width", "dark"), [(DESK, False), (PHONE, True)])
def test_a_goal_from_the_login_to_its_end(
    server: Running, ada: str, project: Project, tmp_path: Path, *, width: int, dark: bool
) -> None:
    done = [call("write_file", path="src/calc/part_1.1.py", content=part("metres")), call("finish", summary="done")]
    project.play(plan("1.1"), rule("coder", "code", [call("ask_user", **ASKED)], done), ask={"coder": True})
    with screen(server.url, tmp_path / "profile", width=width, dark=dark) as at:
        log_in(at)
        at.picture("1-nothing-waits")
        at.click("nav a", "Goals")
        at.picture("2-goals")
        if not at.all("details[open] #text"):
            at.click("summary", "New goal")
        at.fill("#text", "Add parts <script>alert(1)</script>")
        at.click("button", "Plan it")
        # The plan comes while somebody looks, without a reload.
        at.says("The plan waits for approval")
        at.picture("3-plan-waits")
        at.click("nav a", "Needs me")
        at.click("summary", "The plan")
        at.picture("4-needs-me")
        at.click("button", "Approve the plan")
        at.says("Approved.")
        # The question of the coder comes to the same page.
        at.says("Which unit?")
        at.picture("5-question")
        at.click("label", "metres")
        at.click("button", "Answer")
        at.says("Answered.")
        # The run is watched live from here on.
        at.click("nav a", "Goals")
        at.click(".list a.title", "Parts")
        at.says("live")
        at.says("task 1.1 complete")
        at.says("Phase 1 waits for approval")
        at.picture("6-goal")
        at.click("#phases a", "1.1")
        at.says("1 attempt")
        at.picture("7-task")
        at.click("nav a", "Needs me")
        at.click("a", "page of its own")
        at.says("Phase 1 waits for your approval")
        at.picture("8-phase")
        at.click("button", "Approve the phase")
        at.says("Nothing waits for you")
        for name, path in (("9-cost", "/cost"), ("10-ledgers", "/ledger"), ("11-settings", "/settings")):
            at.open(path)
            at.picture(name)
        at.open("/ledger")
        at.click(".list a.title", "Parts")
        at.says("The chain holds")
        at.picture("12-ledger")
        assert at.said() == []


def test_without_scripts_all_can_be_looked_at_and_decided(
    server: Running, ada: str, project: Project, tmp_path: Path
) -> None:
    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)
    with screen(server.url, tmp_path / "profile", width=PHONE, scripts=False) as at:
        at.open("/")
        at.fill("[name=name]", "ada")
        at.fill("[name=password]", WORDS)
        at.click("button", "Sign in")
        assert at.find("h2", "The plan waits for approval")
        at.click("summary", "The plan")
        assert at.find("li", "part 1.1 has a value")
        at.click("button", "Approve the plan")
        assert at.find("[role=status]", "Approved.")
    assert project.state.plan_approved_by == ""
    assert project.lines()[-1]["actor"] == "user:ada"


def test_it_is_walked_through_by_keyboard(server: Running, ada: str, project: Project, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)
    with screen(server.url, tmp_path / "profile", width=DESK) as at:
        at.open("/login")
        at.find("[name=name]").send_keys("ada", Keys.TAB, WORDS, Keys.ENTER)
        at.says("The plan waits for approval")

        def pressed(*keys: str) -> Any:
            at.driver.switch_to.active_element.send_keys(*keys)
            return at.driver.switch_to.active_element

        assert pressed(Keys.TAB).text == "Skip to the page"
        pressed(Keys.ENTER)
        for _ in range(12):
            if pressed(Keys.TAB).text == "Approve the plan":
                break
        pressed(Keys.ENTER)
        at.says("Approved.")


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'><svg onload=alert(3)>{{7*7}}\u202egnp.exe"


def test_no_text_of_an_agent_or_a_repository_does_anything(
    server: Running, ada: str, project: Project, tmp_path: Path
) -> None:
    task = {
        "id": "1.1",
        "title": HOSTILE,
        "description": HOSTILE,
        "acceptance": [HOSTILE],
        "files": ["src/calc/part_1.1.py"],
        "complexity": "SMALL",
    }
    saved = call("save_plan", title=HOSTILE, phases=[{"name": HOSTILE, "tasks": [task]}])
    writes = code({"src/calc/part_1.1.py": f'"""A part."""\n\nVALUE = {HOSTILE!r}\n'})
    asks = rule("architect", "plan", [call("ask_user", questions=[HOSTILE])])
    project.play(asks, rule("architect", "plan", [saved], contains="IN-METRES"), writes)
    project.swarm("plan", HOSTILE, exits=3)
    with screen(server.url, tmp_path / "profile", width=DESK) as at:
        log_in_anyway(at)
        goal = server.app.state.rooms.goals.list()[0].id
        seen = [at_text(at, path) for path in ("/", "/goals", f"/goals/{goal}", f"/ledger/{goal}")]
        at.open("/")
        at.fill("textarea[name=text]", f"IN-METRES {HOSTILE}")
        at.click("button", "Answer")
        at.says("Answered.")
        project.swarm("plan", exits=3)
        seen += [at_text(at, path) for path in ("/", f"/goals/{goal}", f"/goals/{goal}/tasks/1.1", "/cost", "/ledger")]
        at.open("/")
        at.click("button", "Approve the plan")
        project.swarm("run", exits=3)
        seen += [at_text(at, path) for path in ("/", f"/goals/{goal}", f"/goals/{goal}/tasks/1.1", f"/ledger/{goal}")]
        assert at.said() == []
    assert sum("onerror=alert(1)" in text for text in seen) >= 10
    assert not any("\u202e" in text for text in seen)


def log_in_anyway(at: Screen) -> None:
    at.open("/login")
    at.fill("[name=name]", "ada")
    at.fill("[name=password]", WORDS)
    at.click("button", "Sign in")
    at.says("Needs me")


def at_text(at: Screen, path: str) -> str:
    """What a page says; it holds nothing but what its own template made."""
    at.open(path)
    made = "return document.querySelectorAll('main img, main script, main [onload], main [onerror]').length"
    assert at.driver.execute_script(made) == 0, path
    return at.text


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: axe-core cannot be had")
    folder = tmp_path_factory.mktemp("axe")
    command = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(folder),
        AXE,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        pytest.skip(f"npm cannot install {AXE}: {done.stderr[-300:]}")
    return (folder / "node_modules/axe-core/axe.min.js").read_text("utf-8")


@pytest.mark.parametrize(("width", "dark"), [(DESK, False), (DESK, True), (PHONE, False), (PHONE, True)])
def test_axe_finds_nothing_serious(
    server: Running, ada: str, project: Project, tmp_path: Path, axe: str, *, width: int, dark: bool
) -> None:
    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)
    with screen(server.url, tmp_path / "profile", width=width, dark=dark) as at:
        at.open("/login")
        found = serious(at, axe)
        log_in_anyway(at)
        goal = server.app.state.rooms.goals.list()[0].id
        paths = ["/", "/goals", f"/goals/{goal}", f"/goals/{goal}/tasks/1.1", f"/ledger/{goal}", "/ledger"]
        for path in (*paths, "/councils", "/cost", "/settings", "/nothing-here"):
            at.open(path)
            found += serious(at, axe)
        at.open("/")
        at.click("a", "page of its own")
        found += serious(at, axe)
    assert found == []


def serious(at: Screen, axe: str) -> list[str]:
    """What axe has against the page that is open, with every fold of it open."""
    at.driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    at.driver.execute_script(axe)
    run = "axe.run().then((found) => arguments[arguments.length - 1](JSON.stringify(found.violations)))"
    violations = json.loads(at.driver.execute_async_script(run))
    return [
        f"{at.driver.current_url} {each['id']} {node['target']}: {node['failureSummary']}"
        for each in violations
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"]
    ]
