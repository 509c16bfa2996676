"""`swarm report`: one page of HTML, which a real browser opens on a phone and on a desk."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image
from tests.browser import browser
from tests.project import Project, code, critic, part, plan, review, task, until

HOSTILE = '</title></pre><script src="https://evil.test/x.js">alert(1)</script><img src=x onerror=alert(1)>\u202e&lt;'
KEY = "sk-proj-0123456789abcdef"


class _Markup(HTMLParser):
    """The tags and attributes of a page, and whether each is closed."""

    _VOID = frozenset({"meta", "img", "link", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def markup(page: str) -> _Markup:
    found = _Markup()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def _two_phases(project: Project) -> None:
    """A rejected attempt, an overruled one, a skipped task, an approved checkpoint; every text is hostile."""
    no = review("REJECTED", f"{HOSTILE} not yet", "bad", task="1.1", attempt="1")
    title = f"Part {HOSTILE}"
    tasks = [task("1.1", title=title), task("1.2", acceptance=["a", HOSTILE]), task("2.1", title="Later " * 40)]
    files = {"src/calc/part_{{task}}.py": part("{{task}}") + f'\nPLACE = "{"x" * 60}"  # <b>{"y" * 20}</b>\n'}
    project.planned(plan(*tasks), critic(), no, code(files))
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("skip", "2.1", "--reason", f"{HOSTILE} no more with {KEY}")


@pytest.fixture
def worked(project: Project, once: Callable[[str, Callable[[], None]], None]) -> Project:
    once("two-phases", lambda: _two_phases(project))
    return project


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_the_page_tells_the_goal_and_no_word_of_anybody_becomes_markup(worked: Project) -> None:
    before = worked.folder.ledger.read_bytes()
    result = worked.swarm("report")
    page = worked.folder.report.read_text()
    assert re.fullmatch(r"\.swarm/report\.html: [\d,]+ bytes\n", result.stdout)
    assert worked.folder.ledger.read_bytes() == before
    found = markup(page)
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in found.tags}
    assert not any(name in ("src", "href", "onerror", "style") for _, attrs in found.tags for name in attrs)
    pictures = [attrs for tag, attrs in found.tags if tag == "svg" and "role" in attrs]
    assert all(attrs["aria-label"] for attrs in pictures)
    assert "2 tasks" in str(pictures[0]["aria-label"])
    assert KEY not in page
    assert "no more with [redacted]" in page
    state = worked.state
    assert state.task("1.1").commit[:12] in page
    assert "reviewer" in page
    for attempt in (1, 2):
        assert f"1.1, attempt {attempt}, code: " in page
    assert "Parts are modules." in page  # a decision of the checkpoint
    assert f'<span class="added">+{"&#34;" * 3}A part.' in page
    worked.swarm("verify")
    assert worked.swarm("report").stdout == result.stdout  # the same ledger, the same page
    assert worked.folder.report.read_text() == page


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_as_json_of_one_phase_elsewhere(worked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "present")
    worked.configure(providers__local={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "MY_KEY"})
    place = tmp_path / "page.html"
    told = worked.json("report", "--phase", "1", "--out", str(place))
    record = told["record"]
    assert [each["id"] for each in record["tasks"]] == ["1.1", "1.2"]
    assert [(each["number"], each["by"]) for each in record["phases"]] == [(1, "user")]
    assert [(each["task"], each["attempt"], each["outcome"]) for each in record["times"]] == [
        ("1.1", 1, "REJECTED"), ("1.1", 2, "COMPLETE"), ("1.2", 1, "COMPLETE"),
    ]  # fmt: skip
    assert record["rejections"][0]["by"] == ["reviewer"]
    assert {each["standing"] for each in record["evidence"]} == {"present"}
    assert told["path"] == str(place)
    assert place.stat().st_size == told["size"]
    assert not worked.folder.report.exists()
    patch = worked.folder.evidence / "1.2/attempt-1/change.patch"
    patch.write_text(patch.read_text() + "+more\n")
    told = worked.json("report", "--phase", "1", "--out", str(place))
    changes = {each["task"]: each["problem"] for each in told["changes"]}
    assert changes == {"1.1": "", "1.2": "its evidence is changed"}


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_what_cannot_be_told_is_refused_with_a_hint(project: Project, tmp_path: Path) -> None:
    assert "swarm plan" in project.swarm("report", exits=2).stderr
    project.planned()
    assert "The plan has no phase 7." in project.swarm("report", "--phase", "7", exits=2).stderr
    mine = project.write("mine.html", "<!doctype html>\n<p>mine</p>\n")
    (tmp_path / "link.html").symlink_to(mine)
    for place in (mine, tmp_path / "link.html", project.root / ".git/page.html", tmp_path / "no/page.html"):
        assert "->" in project.swarm("report", "--out", str(place), exits=2).stderr
    assert mine.read_text() == "<!doctype html>\n<p>mine</p>\n"
    project.swarm("report")
    markup(project.folder.report.read_text())  # nothing was at work yet


@pytest.mark.suite("unittest")
def test_it_is_opened_in_the_browser_of_the_user_and_never_by_what_lies_in_the_tree(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.planned()
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/asked.part; mv {tmp_path}/asked.part {tmp_path}/asked\n')
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(script))
    project.swarm("report", "--open")
    until((tmp_path / "asked").exists)
    assert (tmp_path / "asked").read_text() == f"{project.folder.report.as_uri()}\n"
    planted = project.write("bin/browser", f"#!/bin/sh\ntouch {tmp_path}/fired\n", mode=0o755)
    monkeypatch.setenv("BROWSER", str(planted))
    assert "not found outside of the work tree" in project.swarm("report", "--open", exits=6).stderr
    monkeypatch.setenv("BROWSER", "browser '")
    assert project.json("report", "--open", exits=6)["message"].startswith("$BROWSER is no command")
    assert not (tmp_path / "fired").exists()


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_real_browser_shows_it_on_a_phone_and_on_a_desk(worked: Project, tmp_path: Path) -> None:
    worked.swarm("report")
    page = worked.folder.report
    with browser(tmp_path / "profile") as tab:
        for width in (360, 1280):
            for dark in (False, True):
                tab.open(page, width=width, dark=dark)
                tab.value("document.querySelectorAll('details').forEach(each => each.open = true)")
                assert tab.value("document.documentElement.scrollWidth") <= width
                picture = Image.open(io.BytesIO(tab.picture())).convert("RGB")
                colours = picture.getcolors(maxcolors=1 << 24) or []
                assert picture.width == width
                assert len(colours) > 100
                assert (sum(picture.getpixel((1, 1))) < 200) is dark  # type: ignore[arg-type]  # three bands
                picture.save(tmp_path / f"report-{width}{'-dark' if dark else ''}.png")  # to be looked at
        tab.open(page, width=794)  # A4 at 96 pixels an inch
        tab.call("Emulation.setEmulatedMedia", media="print", features=[])
        assert tab.value("document.documentElement.scrollWidth") <= 794
        (tmp_path / "report-print.png").write_bytes(tab.picture())
        assert {url for url in tab.requests if url != "about:blank"} == {page.as_uri()}
        assert tab.said == []
