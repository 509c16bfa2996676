"""What every page has in common: text is text, and there is one way to make one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

import swarmgate
from swarmgate.html import rendered

SOURCES = Path(swarmgate.__file__).parent
TEMPLATES = sorted(path for path in SOURCES.rglob("templates/*") if path.is_file())


def shown(folder: Path, body: str, **values: Any) -> str:
    (folder / "templates").mkdir()
    (folder / "templates/own.html").write_text(
        '{% extends "page.html" %}{% macro bold(text) %}<b>{{ text }}</b>{% endmacro %}'
        "{% block title %}T{% endblock %}{% block style %}{% endblock %}"
        f"{{% block body %}}{body}{{% endblock %}}"
    )
    page = rendered(str(folder / "code.py"), "own.html", **values)
    return page.partition("<body>\n")[2].partition("</body>")[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\"'&", "&#34;&#39;&amp;"),
        ("&lt;", "&amp;lt;"),
        ("\ud83d\u202e\x1b", "\ufffd\ufffd\ufffd"),
        ("{{ 7 * 7 }}{% include 'page.html' %}", "{{ 7 * 7 }}{% include &#39;page.html&#39; %}"),
        (7.5, "7.5"),
    ],
)
def test_what_was_said_is_text_in_a_page_an_attribute_and_a_macro(tmp_path: Path, text: object, told: str) -> None:
    body = '<i id="{{ text }}">{{ text }}</i>{{ bold(text) }}{{ "%s" | format(text) }}'
    assert shown(tmp_path, body, text=text) == f'<i id="{told}">{told}</i><b>{told}</b>{told}'


def test_what_a_template_asks_for_in_vain_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError, match="missing"):
        shown(tmp_path, "{{ missing }}")


SERVED = SOURCES / "server/pages"
"""Templates of pages that a server shows: they lead to its other pages, and have its style sheets and modules."""


def test_no_template_switches_the_escaping_off_or_loads_anything() -> None:
    assert {"page.html", "debate.html", "discussion.html", "report.html", "plot.html"} <= {
        path.name for path in TEMPLATES
    }
    for path in TEMPLATES:
        text = path.read_text("utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup|@import|url\((?!#)", text), path
        if not path.is_relative_to(SERVED):
            assert not re.search(r"""<script|(?:src|href)="(?!#|data:)""", text), path


def test_served_pages_have_nothing_inline_and_nothing_of_another_host() -> None:
    files = [path for path in SERVED.rglob("*") if path.suffix in {".html", ".css", ".js", ".svg"}]
    assert {"shell.html", "base.css", "live.js"} <= {path.name for path in files}
    for path in files:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|url\((?!#)|\seval\(|innerHTML\s*=(?!=)|document\.write", text), path
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=\"|javascript:", text), path
        assert not re.search(r"<script(?! type=\"module\" src=\"\{\{ shell\.static)", text), path


def test_no_code_puts_a_page_together_by_itself() -> None:
    made = [
        path
        for path in SOURCES.rglob("*.py")
        if re.search(r"""["']<(?:!doctype html|html|svg)[ >]""", path.read_text())
    ]
    assert [path for path in made if "testing" not in path.parts] == []
