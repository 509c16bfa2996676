"""Which findings cite something that stands there, and which do not."""

from __future__ import annotations

import pytest

from swarmgate.agents.citations import Material, checked, problem
from swarmgate.domain.evidence import Remark, Review, Verdict
from swarmgate.domain.finding import Severity

PATCH = """modified: src/jwt.py (+2 -1)

diff --git a/src/jwt.py b/src/jwt.py
--- a/src/jwt.py
+++ b/src/jwt.py
@@ -1,3 +1,4 @@
 def token(user):
-    payload = {"sub": user}
+    payload = {"sub": user.id}
+    return jwt.encode(payload, KEY, algorithm="none")
"""
AFTER = """KEY = "k"


def token(user):
    payload = {"sub": user.id}
    return jwt.encode(payload, KEY, algorithm="none")


def other():
\treturn   1
"""
FILES = {"src/jwt.py": (AFTER, "def token(user):\n    payload = {'old': 1}\n"), "gone.py": ("x = 1\n",), "a.png": ("",)}


def material() -> Material:
    return Material(PATCH, lambda path: FILES.get(path, ()))


def remark(quote: str, file: str = "src/jwt.py") -> Remark:
    return Remark(severity=Severity.HIGH, message="m", file=file, quote=quote)


@pytest.mark.parametrize(
    "quote",
    [
        'payload = {"sub": user.id}',  # a line of the diff
        '    payload = {"sub": user.id}  ',
        '+    payload = {"sub": user.id}',
        '-    payload = {"sub": user}',  # a removed one
        'KEY = "k"',  # outside of the diff, in the file
        "return 1",  # white space
        "payload = {'old': 1}",  # before the change
        'algorithm="none"',  # a part of a line
        '`return jwt.encode(payload, KEY, algorithm="none")`',
        '```\ndef token(user):\n    payload = {"sub": user.id}\n```',
        'def token(user):\n...\n    return jwt.encode(payload, KEY, algorithm="none")',
        'return jwt.encode(..., algorithm="none")',
        "return jwt.encode(\u2026",
        '5: payload = {"sub": user.id}',
        'src/jwt.py:5:     payload = {"sub": user.id}',
        '5 | payload = {"sub": user.id}',
        "modified: src/jwt.py (+2 -1)",
    ],
)
def test_these_stand_there(quote: str) -> None:
    assert problem(remark(quote), material()) == ""


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("", "quotes no line"),
        ("   \n", "quotes no line"),
        ("...", "quotes no line"),
        ("}", "quotes no line"),
        ("payload = {'exp': 1}", "does not stand"),
        ("def token(user):\n    return None", "`return None` does not stand"),  # every line
        ("ke", "does not stand"),  # too short to be a part of a line
        ('algorithm="none" ... return jwt.encode', "does not stand"),  # out of order
        ("jwt ... (", "does not stand"),
    ],
)
def test_these_cite_nothing(quote: str, said: str) -> None:
    assert said in problem(remark(quote), material())


def test_the_file_must_be_there_or_have_been_there() -> None:
    assert "no file src/nowhere.py" in problem(remark("def token(user):", "src/nowhere.py"), material())
    assert problem(remark("x = 1", "gone.py"), material()) == ""
    assert problem(remark("def token(user):", "./src/jwt.py"), material()) == ""
    assert problem(remark("def token(user):", ""), material()) == ""
    assert "name the `file`" in problem(remark('KEY = "k"', ""), material())
    assert "does not stand" in problem(remark("def token", "a.png").model_copy(update={"quote": "zzzz"}), material())


def test_what_cites_nothing_is_set_aside_and_the_verdict_stays() -> None:
    review = Review(verdict=Verdict.REJECTED, summary="s", findings=(remark("def token(user):"), remark("nonsense()")))
    after, why = checked(review, material())
    assert (after.findings, after.dropped) == ((review.findings[0],), (review.findings[1],))
    assert after.verdict is Verdict.REJECTED
    assert len(why) == 1
