"""Which findings cite something that stands there, and which do not."""

from __future__ import annotations

import pytest

from swarmgate.agents.roles.citations import Material, checked, problem
from swarmgate.domain.review.evidence import Remark, Review, Verdict
from swarmgate.domain.review.finding import Severity

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
        "@@ -1,3 +1,4 @@",
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
        ("modified: src/jwt.py (+2 -1)", "does not stand"),  # the list of files is no line of the change
        ("modified", "does not stand"),
        ("b/src/jwt.py", "does not stand"),
    ],
)
def test_these_cite_nothing(quote: str, said: str) -> None:
    assert said in problem(remark(quote), material())


def test_the_file_must_be_there_or_have_been_there() -> None:
    assert "no file src/nowhere.py" in problem(remark('KEY = "k"', "src/nowhere.py"), material())
    assert problem(remark("def token(user):", "src/nowhere.py"), material()) == ""  # it stands in the change
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


CODE = """import os

def f(a,\tb):
    x = compute(a, b)
    return helper(
        x,
        y=1,
    )

name = "caf\u00e9"
if x > 10:
    turn(deff)
    return a
text = "one\\ntwo"
"""
OLD = CODE.replace("compute", "legacy")
CHANGE = """modified: src/a.py (+1 -1)
renamed: src/new.py (+0 -0)

diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1,4 +1,4 @@ def f(a,\tb):
-    x = legacy(a, b)
+    x = compute(a, b)
     return helper(
diff --git a/src/old.py b/src/new.py
rename from src/old.py
rename to src/new.py
"""
SOURCES = {"src/a.py": (CODE, OLD), "src/other.py": ("z = 1\n",)}
LINE = "x = compute(a, b)"


def why(quote: str, file: str = "src/a.py") -> str:
    return problem(remark(quote, file), Material(CHANGE, lambda path: SOURCES.get(path, ())))


@pytest.mark.parametrize(
    "file",
    [
        "b/src/a.py",
        "a/src/a.py",
        "/src/a.py",
        "/home/me/repo/src/a.py",
        "C:\\repo\\src\\a.py",
        "src/a.py:4",
        "src/a.py:4-6",
        "src/a.py:4:10",
        "src/a.py#L4",
        "src/a.py (line 4)",
        "`src/a.py`",
        "`src/a.py:4`",
        "src\\a.py",
        ".\\src\\a.py",
        "src/a.py, src/other.py",
        "src/other.py and src/a.py",
    ],
)
def test_a_file_is_known_in_any_spelling(file: str) -> None:
    assert why('name = "caf\u00e9"', file) == ""  # not in the change
    assert "does not stand in the change or in" in why("name = other()", file)


@pytest.mark.parametrize(
    "quote",
    [
        f"```python\n{LINE}\n```",
        f"```diff\n+    {LINE}\n```",
        f"~~~\n{LINE}\n~~~",
        f"```python {LINE}```",
        f"     4\t    {LINE}",
        f"L4: {LINE}",
        f"line 4: {LINE}",
        f"Line 4 | {LINE}",
        f"4 + {LINE}",
        f"+4: {LINE}",
        f"4: +    {LINE}",
        f"4|{LINE}",
        f"4-    {LINE}",
        f"4    {LINE}",
        f"[4] {LINE}",
        f"src/a.py:4:5: {LINE}",
        f"> {LINE}",
        f"> +    {LINE}",
        f"'{LINE}'",
        f'"{LINE}"',
        f"\u201c{LINE}\u201d",
        f"`{LINE}` is called",
        f"{LINE}  # BUG: b is not checked",
        f"{LINE}  // not checked",
        f"# src/a.py:4\n{LINE}",
        f"src/a.py:4\n{LINE}",
        f"Line 4:\n{LINE}",
        f"# what is b here?\n{LINE}",
        f"def f(a, b):\n    # ...\n    {LINE}",
        "x=compute(a,b)",
        "x = compute( a , b )",
        "return helper(x, y=1)",
        "return helper( x, y=1, )",
        "x = compute(a, b)     return helper(",
        "-    x = legacy(a, b) +    x = compute(a, b)",
        f"{LINE}\\n    return helper(",
        'text = "one\\ntwo"',
        'name = \\"caf\u00e9\\"',
        'name = "cafe\u0301"',
        "name = \u201ccaf\u00e9\u201d",
        "def f(a, b):\r\n    x = compute(a, b)\r\n",
        "compute(...)",
        "rename from src/old.py",
        "return",  # more than half of `return a`
    ],
)
def test_what_is_put_around_a_line_and_white_space_do_not_count(quote: str) -> None:
    assert why(quote) == ""


@pytest.mark.parametrize(
    "quote",
    [
        "turn",  # of `return`; as a token of `turn(deff)` it is less than half
        "ef f",
        "comp",
        "retu",
        "added",
        "modified",
        "a,",
        "ompute(a, b)",
        "if x > 1",  # 10
        "x = compute(a, c)",
        f"```python\n{LINE}\nx = fake(a, b)\n```",
        "line 4: x = fake(a, b)",
        "# only a comment that is not there",
        f"{LINE}\nos.system(a)  # made up",
        "compute(b, a)",
        "`os.system(x)` is called",
        "# src/a.py:4",
        "src/a.py",
        "```python\n```",
        "a ... b",
        "x ... (",
        "diff --git a/src/a.py b/src/a.py",
        "return helper(diff",
        "legacy(a, b)\ncompute(b, b)",
        "x = compute(a, b) return other(",
        "4",
        "def",
        "os.path.join(...)",
        "rename from src/a.py",
    ],
)
def test_what_is_not_there_is_not_made_true_by_what_stands_around_it(quote: str) -> None:
    assert why(quote)


def test_the_hunks_of_a_change_are_not_one_text() -> None:
    patch = "@@ -1 +1 @@\n+first(call)\n@@ -9 +9 @@\n+second(call)\n"
    material = Material(patch, lambda _path: ())
    assert problem(remark("second(call)", ""), material) == ""
    assert problem(remark("first(call) second(call)", ""), material)


def test_a_line_that_is_turned_around_can_be_quoted() -> None:
    line = "if access\u202e\u2066// only for admins\u2069 \u2066 != 'user':"
    material = Material(f"@@ -1 +1 @@\n+{line}\n", lambda _path: ())
    assert problem(remark(line, ""), material) == ""
    assert problem(remark("if nothing of this is there:", ""), material)
