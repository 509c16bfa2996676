"""Tests the taint analysis of Python: branches, containers, functions, guards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.sast import python_scan, rules, worker
from swarmgate.gates.sast.flows.rule import Flows

VIEW = """import os, re, configparser, io, subprocess, random
from flask import Flask, request, session, redirect, make_response
from urllib.parse import urlparse
from pathlib import Path
app = Flask(__name__)
@app.route("/x")
def view():
    value = request.args.get("v")
"""


def found(text: str) -> list[tuple[str, int, Severity]]:
    by_id = {rule.id: rule for rule in rules.load() if rule.flow}
    looked = python_scan.PythonScan()
    known = Flows(rule.flow for rule in by_id.values() if rule.flow)
    looked.take("a.py", worker.scan("a.py", text.encode(), known, followed=True), by_id)
    assert (looked.unparsed, looked.flows.partly) == ({}, {})
    return sorted((hit.code.rpartition(".")[2], hit.line, hit.severity) for hit in looked.flows.hits)


def names(text: str) -> list[str]:
    return [name for name, _, _ in found(text)]


def view(*lines: str) -> str:
    return VIEW + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "stays"),
    [
        (["x = value"], True),
        (["x = value", 'x = "a"'], False),
        (['d = {"a": "1"}', 'd["b"] = value', 'x = d["a"]'], False),
        (['d = {"a": "1"}', 'd["b"] = value', 'x = d["b"]'], True),
        (['d = {"a": "1"}', "d[value] = value", 'x = d["a"]'], True),
        (["n = 5", "if n * 2 > 3:", '    x = "a"', "else:", "    x = value"], False),
        (["n = 5", "if n * 2 < 3:", '    x = "a"', "else:", "    x = value"], True),
        (['x = value if "a" == "b" else "c"'], False),
        (['x = "c" if other else value'], True),
        (["k = 'ABC'[1]", "match k:", "    case 'A':", "        x = value", "    case 'B':", "        x = 'b'"], False),
        (["k = 'ABC'[0]", "match k:", "    case 'A':", "        x = value", "    case 'B':", "        x = 'b'"], True),
        (["l = ['a', value]", "l.pop(0)", "x = l[0]"], True),
        (["l = ['a', value]", "x = l[0]"], False),
        (["l = ['a']", "l.append(value)", "x = l[other]"], True),
        (["x = 'a'", "for y in value:", "    x = y"], True),
        (["x = 'a'", "while True:", "    x = x + value", "    break"], True),
        (["x = y = 'a'", "while other():", "    x = y", "    y = value"], True),
        (["x = 'a'", "try:", "    x = value", "except ValueError:", "    pass"], True),
        (["x = 'a'", "try:", "    x = value", "    other()", "    x = 'b'", "except ValueError:", "    pass"], True),
        (["x = 'a'", "try:", "    x = value", "finally:", "    x = 'b'"], False),
        (["x = 'a'", "def inner():", "    nonlocal x", "    x = value", "inner()"], True),
        (["x = 'a'", "x += value"], True),
        (["x = f'{1}-{value}'"], True),
        (["x = f'{len(value):d}'"], False),
        (["x = 'a-%s' % 'b'.upper()"], False),
        (["x = 'a-%d' % value"], False),
        (["d = {}", "e = d", "e['k'] = value", "x = d['k']"], True),
        (["x = value[2:5]"], True),
        (["x = ('fixed' + value)[0:3]"], False),
        (["b = io.StringIO()", "b.write(value)", "x = b.getvalue()"], True),
        (
            [
                "c = configparser.ConfigParser()",
                "c.set('s', 'a', '1')",
                "c.set('s', 'b', value)",
                "x = c.get('s', 'a')",
            ],
            False,
        ),
        (
            [
                "c = configparser.ConfigParser()",
                "c.set('s', 'a', '1')",
                "c.set('s', 'b', value)",
                "x = c.get('s', 'b')",
            ],
            True,
        ),
        (["x = 'a'", "if other:", "    return", "elif more:", "    x = value"], True),
        (["def same(v):", "    return v", "x = same(value)"], True),
        (["def fixed(v):", "    return 'a'", "x = fixed(value)"], False),
        (["class A:", "    def __init__(self, v):", "        self.v = v", "x = A(value).v"], True),
        (["class A:", "    def put(self, v):", "        self.v = v", "a = A()", "a.put(value)", "x = a.v"], True),
        (["x = [y.strip() for y in value.split(',')][0]"], True),
        (["x = unknown.function(value)"], True),
        (["x = int(value)"], False),
        (["x = {'a': 'b'}[value]"], False),
        (["x = {'a': 'b'}.get(value, 'c')"], False),
        (["x = value", "if x not in ('a', 'b'):", "    return 'no'"], False),
        (["x = value", "if x not in ('a', 'b'):", "    other()"], True),
        (["x = value", "if x in request.args:", "    return 'no'"], True),
        (["x = value", "if not re.fullmatch('[a-z]+', x):", "    return 'no'"], False),
        (["x = value", "if not re.match('[a-z]+', x):", "    return 'no'"], True),
        (["x = value", "if not re.fullmatch('.*', x):", "    return 'no'"], True),
        (["x = value", "if not all(c in 'abc' for c in x):", "    return 'no'"], False),
        (["x = value", "if x[0].isalpha():", "    pass", "else:", "    return 'no'"], True),
        (["x = value", "if x.isalnum() and other:", "    pass", "else:", "    return 'no'"], False),
        (["x = value", "if x.isalnum() or other:", "    pass", "else:", "    return 'no'"], True),
    ],
)
def test_what_reaches_a_sink(lines: list[str], stays: bool) -> None:  # noqa: FBT001 - a table
    assert names(view(*lines, "os.system(x)")) == (["command-injection"] if stays else [])


@given(st.sampled_from(["other", "other()", "request.args.get('a')", "value", "a.b == c", "not x.y", "value > 'a'"]))
def test_a_condition_that_is_not_known_prunes_nothing(test: str) -> None:
    for body in (["x = value", "x = 'a'"], ["x = 'a'", "x = value"]):
        lines = [f"if {test}:", f"    {body[0]}", "else:", f"    {body[1]}"]
        assert names(view(*lines, "os.system(x)")) == ["command-injection"]


@given(st.integers(-99, 99), st.integers(-99, 99), st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
def test_a_condition_of_constants_is_decided_as_python_does(left: int, right: int, sign: str) -> None:
    lines = [f"a = {left}", f"if a {sign} {right}:", "    x = value", "else:", "    x = 'a'", "os.system(x)"]
    holds = eval(f"{left} {sign} {right}")  # noqa: S307 - Python's own answer
    assert bool(names(view(*lines))) is holds


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["redirect(value)"], ["open-redirect"]),
        (["redirect('/user/' + value)"], []),
        (["redirect('https://a.example/' + value)"], []),
        (["redirect('https://' + value)"], ["open-redirect"]),
        (["redirect('/a' + request.full_path)", "redirect(request.url)"], []),
        (["redirect(app.config['a'] + other(request.full_path) + request.full_path)"], []),
        (["redirect(request.full_path + value)"], ["open-redirect"]),
        (["if is_safe_url(request.args.get('a')):", "    redirect(request.args.get('a'))"], []),
        (["if is_safe_url(request.args.get('b')):", "    redirect(request.args.get('a'))"], ["open-redirect"]),
        (["if urlparse(value).netloc != 'a.example':", "    return 'no'", "redirect(value)"], []),
        (["u = urlparse(value)", "if u.path != '/a':", "    return 'no'", "redirect(value)"], ["open-redirect"]),
        (["open(os.path.join('data', value))"], ["path-traversal"]),
        (["p = os.path.realpath(value)", "if not p.startswith('/srv/'):", "    return 'no'", "open(p)"], []),
        (["if not value.startswith('/srv/'):", "    return 'no'", "open(value)"], ["path-traversal"]),
        (["p = (Path('d') / value).resolve()", "if not p.is_relative_to('d'):", "    return 'n'", "p.read_text()"], []),
        (["if '..' in value:", "    return 'no'", "open(value)"], []),
        (["f = request.files['f']", "f.save('up/' + f.filename)"], ["path-traversal"]),
        (["return '<b>' + value"], ["xss"]),
        (["return {'a': value}"], []),
        (["return value, 400"], ["xss"]),
        (["return make_response(('a', {'x-b': value}))"], []),
        (["session['a'] = value"], ["trust-boundary"]),
        (["session['token'] = str(random.random())"], ["predictable-secret"]),
        (["session['token'] = random.SystemRandom().random()"], []),
        (["subprocess.run(['ls', value])"], []),
        (["subprocess.run([value, 'a'])"], ["command-injection"]),
        (["subprocess.run(['bash', '-c', value])"], ["command-injection"]),
        (["subprocess.run(value.split(), shell=True)"], ["command-injection"]),
    ],
)
def test_sinks_and_their_guards(lines: list[str], said: list[str]) -> None:
    assert names(view(*lines)) == said


HANDLERS = {
    "flask": "from flask import request as r\n@bp.get('/a/<b>')\ndef f(b):\n    SINK(b)\n",
    "flask view": "from flask.views import MethodView\nfrom flask import request\nclass A(MethodView):\n"
    "    def get(self, b):\n        SINK(request.form['b'])\n",
    "django": "from django.http import HttpResponse\ndef f(request, b):\n    SINK(b)\n    return HttpResponse('a')\n",
    "django class": "class A(View):\n    def post(self, request):\n        SINK(request.POST['b'])\n",
    "fastapi": "@router.get('/a')\nasync def f(b: str = Query(...)):\n    SINK(b)\n",
    "starlette": "async def f(request):\n    b = (await request.json())['b']\n    SINK(b)\n",
    "aiohttp": "async def f(request):\n    SINK(request.match_info['b'])\n",
    "tornado": "class A(RequestHandler):\n    def get(self):\n        SINK(self.get_argument('b'))\n",
    "bottle": "from bottle import request, route\n@route('/a')\ndef f():\n    SINK(request.query.b)\n",
    "wsgi": "import os\nSINK(os.environ['QUERY_STRING'])\n",
    "socket": "def f(sock):\n    b = sock.recv(9)\n    SINK(b.decode())\n",
    "terminal": "SINK(input())\n",
}


@pytest.mark.parametrize("handler", HANDLERS)
def test_input_of_every_framework(handler: str) -> None:
    assert names("import os\n" + HANDLERS[handler].replace("SINK", "os.system")) == ["command-injection"]
    assert names(HANDLERS[handler].replace("SINK", "print")) == []


def test_numbers_and_what_a_framework_injects_are_no_input() -> None:
    text = (
        "@app.get('/a')\ndef f(b: int, c: UUID, d: str = Depends(e)):\n"
        "    os.system(b)\n    os.system(c)\n    os.system(d)\n"
    )
    assert names("import os\n" + text) == []


def test_a_path_that_no_client_chooses_is_no_input() -> None:
    text = "from flask import request\n@app.route('PATH')\ndef f():\n    exec(request.path)\n"
    assert names(text.replace("PATH", "/a")) == []
    assert names(text.replace("PATH", "/<b>")) == ["code-injection"]


def test_own_arguments_inform() -> None:
    ((name, _, severity),) = found("import sys, os\nos.system(sys.argv[1])\n")
    assert (name, severity) == ("command-injection", Severity.LOW)


def test_a_call_of_a_helper_is_found_in_the_helper() -> None:
    text = "def run(c):\n    os.system(c)\n"
    assert ("command-injection", 2, Severity.HIGH) in found(text + view("run(value)"))
    assert found(text + view("run('a')")) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    return f(a)\nf(input())\n",
        "a = []\na.append(a)\neval(a[0])\ninput()\n",
        "class A(A): pass\nA().b\neval(input)\ninput()\n",
        "x = input() and 'a'\nwhile x: x = x + x\neval('a')\n",
        "".join(f"def f{n}(a):\n    f{n + 1}(a); f{n + 1}(a)\n" for n in range(60)) + "f0(input())\nexec('a')\n",
    ],
)
def test_what_holds_or_calls_itself_ends(text: str) -> None:
    assert found(text) is not None


@pytest.mark.parametrize(("route", "page"), [('"/x"', False), ('"/x", response_class=HTMLResponse', True)])
def test_what_a_route_of_fastapi_returns_is_json(route: str, *, page: bool) -> None:
    text = (
        "from fastapi import APIRouter\nfrom fastapi.responses import HTMLResponse\n\nrouter = APIRouter()\n\n\n"
        f'@router.get({route})\nasync def greet(name: str):\n    return "<p>" + name\n'
    )
    assert (names(text) == ["xss"]) is page
