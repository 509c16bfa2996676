"""Tests which changes are security-sensitive, and which only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.errors import ConfigError
from swarmgate.gates.project.files import language_of, traits_of
from swarmgate.gates.sensitivity.definition import FILE, load, parsed
from swarmgate.gates.sensitivity.reasons import sensitive
from swarmgate.gates.sensitivity.uses import Kind, uses
from swarmgate.gates.source.file import Revision, SourceFile

BUILT_IN = load()


def reasons(path: str, text: str, *, before: str = "", lines: set[int] | None = None, definition: object = None) -> str:
    """The reasons for a change of one file, a line each; every line is new where none are named."""
    every = set(range(1, text.count("\n") + 2))
    source = SourceFile.of(
        path=path,
        language=language_of(path),
        traits=traits_of(path),
        content=text.encode(),
        old=Revision(path, content=before.encode()) if before else None,
        added_lines=frozenset(every if lines is None else lines),
    )
    change = ChangeSet(base="a", tree="b", files=(ChangedFile(path=path, kind=ChangeKind.MODIFIED),))
    found = sensitive(definition or BUILT_IN, change, [source], {path: before.encode()})  # type: ignore[arg-type]  # one of ours
    return "\n".join(found)


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("a.py", "import jwt\n", "a.py:1: imports jwt (tokens and secrets)"),
        ("a.py", "from hashlib import md5 as m\ndef f(x):\n    return m(x)\n", "a.py:3: calls hashlib.md5"),
        ("a.py", "import subprocess as sp\nsp.run(['ls'])\n", "a.py:2: calls subprocess.run"),
        ("a.py", "import sqlite3\ndef f(c):\n    c.execute('x')\n", "a.py:3: calls c.execute (SQL)"),
        ("a.py", "def f(x):\n    return eval(x)\n", "a.py:2: calls eval"),
        ("a.py", "def f():\n    return request.session['u']\n", "a.py:2: uses request.session"),
        ("a.py", "@login_required\ndef f():\n    return 1\n", "a.py:1: calls login_required"),
        ("a.py", "def check_password_of(a, b):\n    return a == b\n", "a.py:1: changes check_password_of()"),
        ("a.ts", "import { exec as e } from 'node:child_process';\nconst f = () => e('ls');\n", "child_process.exec"),
        ("a.js", "const { sign: s } = require('jsonwebtoken');\ns({});\n", "a.js:2: calls jsonwebtoken.sign"),
        ("a.tsx", "const A = () => <p dangerouslySetInnerHTML={{ __html: x }} />;\n", "uses dangerouslySetInnerHTML"),
        ("a.js", "app.get('/', (req, res) => { res.redirect(req.query.to); });\n", "calls res.redirect"),
        ("a.go", 'package a\n\nimport sh "os/exec"\n\nfunc f() { sh.Command("ls").Run() }\n', "calls os/exec.Command"),
        ("a.go", 'package a\nimport "database/sql"\nfunc f(d *sql.DB) { d.Query("x") }\n', "calls d.Query (SQL)"),
        ("A.java", 'import java.security.*;\nclass A { void f() { Mac.getInstance("a"); } }\n', "cryptography"),
        ("A.java", "class A { void f() { new ObjectInputStream(s).readObject(); } }\n", "calls ObjectInputStream"),
        ("A.java", '@PreAuthorize("x") class A {}\n', "A.java:1: calls PreAuthorize"),
        ("a.rb", "def f\n  Marshal.load(x)\nend\n", "a.rb:2: calls Marshal.load"),
        ("a.rb", "def f\n  `ls`\nend\n", "(processes and code from text)"),
        ("a.php", "<?php\nfunction f() { return unserialize($_COOKIE['a']); }\n", "calls unserialize"),
        ("a.php", "<?php\nfunction f() { move_uploaded_file($_FILES['a'], 'b'); }\n", "uploads"),
        ("a.rs", 'use std::process::Command as C;\nfn f() { C::new("ls"); }\n', "calls std.process.Command.new"),
        ("a.cs", "class A { [Authorize] void F() { } }\n", "a.cs:1: calls Authorize"),
        ("a.cs", 'class A { void F() { Process.Start("ls"); } }\n', "a.cs:1: calls Process.Start"),
        ("a.py", "app.add_middleware(CORSMiddleware, allow_origins=['*'])\nx = m.CORSMiddleware\n", "CORS"),
        ("src/auth/core.py", "X = 1\n", "src/auth/core.py: path **/auth/** (authentication and authorisation)"),
        ("src/AuthController.java", "class AuthController {}\n", "(authentication and authorisation)"),
        ("src/session_store.go", "package a\n", "(sessions and cookies)"),
        ("session.py", "class Session:\n    def load(self, request):\n        return request.jar\n", "path session.*"),
        ("src/sessions/store.kt", "class A\n", "path **/sessions/**"),  # a language that is not read
        ("cookies.py", "def render(name, max_age, httponly):\n    return name\n", "path cookies.*"),
        ("a.py", "def encode_token(claims, key):\n    return mac(key, claims)\n", "changes encode_token()"),
        ("a.js", "function redirect(res, url) { res.writeHead(302, {Location: url}); }\n", "changes redirect()"),
        ("a.py", "def upload_it(data, filename):\n    open(filename, 'wb').write(data)\n", "changes upload_it()"),
        ("a.py", "import hashlib\ndef f(given, salt):\n    return hashlib.sha256(given + salt)\n", "hashlib.sha256"),
        ("a.py", "import hashlib\ndef f(form):\n    return hashlib.sha256(form['password'])\n", "hashlib.sha256"),
        ("a.js", "const c = require('crypto');\nfunction f(x) { c.createHash('md5').update(x); }\n", "createHash"),
        ("a.go", 'package a\nimport "crypto/sha256"\nfunc f(password []byte) { sha256.Sum256(password) }\n', "Sum256"),
        ("a.php", "<?php\nfunction f($b) { return hash('md5', $b); }\n", "calls hash"),
    ],
)  # fmt: skip
def test_this_is_sensitive(path: str, text: str, said: str) -> None:
    assert said in reasons(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "# eval(x), subprocess.run, jwt.decode\nX = 1\n"),
        ("a.py", "X = 'import jwt; eval(x); cursor.execute(q)'\n"),
        ("a.py", '"""subprocess.run(x)"""\n'),
        ("a.js", "// child_process.exec(x)\nconst x = 'eval(1)';\n"),
        ("a.js", "const m = /a/.exec(x); const y = list.query('a');\n"),  # of no database
        ("a.py", "def run(x):\n    return x.execute()\n"),  # the same
        ("author.py", "NAME = 'x'\n"),
        ("tokenizer.py", "def next_token(text):\n    return text.split()\n"),
        ("tests/test_auth.py", "import jwt\n"),
        ("docs/auth/login.md", "# Login\n"),
        ("vendor/auth/jwt.py", "import jwt\n"),
        ("src/auth/style.css", "a { color: red }\n"),
        ("a.py", "def broken(:\n"),
        ("session.py", "class TrainingSession:\n    def __init__(self, minutes):\n        self.minutes = minutes\n"),
        ("cookies.py", "def bake(cookie):\n    return {'cookie': ['flour', 'butter']}[cookie]\n"),
        ("tok.py", "class T:\n    def encode_token(self, text):\n        return self.vocab[text]\n"),
        ("a.js", "function redirectStdout(stream) { process.stdout.write = (chunk) => stream.push(chunk); }\n"),
        ("a.go", "package a\nfunc redirectStdout(f *os.File) { os.Stdout = f }\n"),
        ("upload_progress.py", "def upload_progress(sent, total):\n    return 100 * sent // total\n"),
        ("a.py", "import hashlib\ndef cache_key(b):\n    return hashlib.sha256(b).hexdigest()\n"),
        ("a.js", "import c from 'node:crypto';\nexport const etag = (body) => c.createHash('sha256').update(body);\n"),
        ("a.go", 'package a\nimport "crypto/sha256"\nfunc key(b []byte) [32]byte { return sha256.Sum256(b) }\n'),
        ("a.rb", "require 'digest'\ndef key(x)\n  Digest::SHA256.hexdigest(x)\nend\n"),
        ("A.java", 'import java.security.MessageDigest;\nclass A { A() { MessageDigest.getInstance("SHA-256"); } }\n'),
        ("a.php", "<?php\nfunction key($b) { return hash('sha256', $b); }\n"),
        ("a.rs", "use sha2::Sha256;\nfn key(b: &[u8]) { Sha256::digest(b); }\n"),
        ("a.cs", "using System.Security.Cryptography;\nclass A { void F(byte[] b) { SHA256.HashData(b); } }\n"),
    ],
)
def test_this_is_not(path: str, text: str) -> None:
    assert reasons(path, text) == ""


FUNCTIONS = (
    "import subprocess\n\ndef first():\n    subprocess.run(['ls'])\n    return 1\n\ndef second():\n    return 2\n"
)


def test_the_function_around_a_changed_line_counts_and_no_other() -> None:
    changed = FUNCTIONS.replace("return 1", "return 3")
    assert "a.py:4: calls subprocess.run" in reasons("a.py", changed, before=FUNCTIONS, lines={5})
    changed = FUNCTIONS.replace("return 2", "return 3")
    assert reasons("a.py", changed, before=FUNCTIONS, lines={8}) == ""


def test_what_is_removed_counts() -> None:
    checked = "def f(user):\n    if not user.has_perm('x'):\n        raise Forbidden\n    return 1\n"
    now = "def f(user):\n    return 1\n"
    assert reasons("a.py", now, before=checked, lines=set()) == (
        "a.py:2: calls user.has_perm before the change (authentication and authorisation)"
    )


def test_a_deleted_file_counts() -> None:
    change = ChangeSet(base="a", tree="b", files=(ChangedFile(path="a.py", kind=ChangeKind.DELETED),))
    assert sensitive(BUILT_IN, change, [], {"a.py": b"import jwt\n"}) == (
        "a.py:1: imports jwt before the change (tokens and secrets)",
    )


def test_comments_and_layout_alone_do_not_count() -> None:
    before = "def login(user):\n    return user\n"
    after = "def login(user):\n    # says who is there\n    return user\n"
    assert "auth/a.py" in reasons("auth/a.py", after.replace("return user", "return None"), before=before, lines={2, 3})
    assert reasons("auth/a.py", after, before=before, lines={2}) == ""


def test_the_name_of_a_new_file_keeps_nothing_out() -> None:
    change = ChangeSet(base="a", tree="b", files=(ChangedFile(path="vendor/a.py", kind=ChangeKind.ADDED),))
    traits = traits_of("vendor/a.py")
    for claimed, expected in ((traits, 1), (frozenset(), 0)):
        source = SourceFile.of(
            "vendor/a.py",
            "python",
            traits,
            b"import jwt\n",
            added_lines=frozenset({1}),
            unproven=traits,
            claimed=claimed,
        )
        assert len(sensitive(BUILT_IN, change, [source], {})) == expected


def test_the_project_says_which_files_are_tests() -> None:
    source = SourceFile.of("checks/auth.py", "python", content=b"import jwt\n", added_lines=frozenset({1}))
    change = ChangeSet(base="a", tree="b")
    assert sensitive(BUILT_IN, change, [source], {})
    assert not sensitive(BUILT_IN, change, [source], {}, is_test=lambda path: path.startswith("checks/"))


def test_a_project_extends_the_definition(tmp_path: Path) -> None:
    own = tmp_path / ".swarm/gates" / FILE
    own.parent.mkdir(parents=True)
    own.write_text(
        'except = ["src/auth/fixtures.py"]\n'
        '[[kind]]\nid = "sql"\n[kind.python]\ncalls = ["warehouse.*"]\n'
        '[[kind]]\nid = "money"\ntitle = "payments"\npaths = ["**/billing/**"]\nfunctions = ["charge*"]\n'
    )
    definition = load(tmp_path)
    assert "(SQL)" in reasons("a.py", "import warehouse\nwarehouse.ask('x')\n", definition=definition)
    assert "(SQL)" in reasons("a.py", "import sqlite3\n", definition=definition)  # what was there stays
    assert "(payments)" in reasons("src/billing/a.go", "package a\n", definition=definition)
    assert "changes chargeCard()" in reasons("a.js", "function chargeCard() { return 1; }\n", definition=definition)
    assert reasons("src/auth/fixtures.py", "import jwt\n", definition=definition) == ""
    assert reasons("a.py", "import warehouse\nwarehouse.ask('x')\n") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[kind]]\nid = "a"\npathes = ["x"]\n', "unknown key `pathes`"),
        ('[[kind]]\nid = "a"\n[kind.python]\ncall = ["x"]\n', "unknown key `python.call`"),
        ('[[kind]]\nid = "a"\n[kind.cobol]\ncalls = ["x"]\n', "unknown key `cobol`"),
        ('[[kind]]\npaths = ["x"]\n', "`id`"),
        ("kinds = 1\n", "unknown key `kinds`"),
        ('kind = "a"\n', "[[kind]]"),
        ("except = 1\n", "`except`"),
        ("[[kind\n", "cannot be read"),
    ],
)
def test_a_wrong_definition_names_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / ".swarm/gates" / FILE
    own.parent.mkdir(parents=True)
    own.write_text(text)
    with pytest.raises(ConfigError, match=r"security_sensitive\.toml") as caught:
        load(tmp_path)
    assert said in caught.value.message


def test_every_kind_that_the_issue_names_is_there() -> None:
    assert {kind.id for kind in BUILT_IN.kinds} == {
        "auth", "crypto", "session", "token", "sql", "process", "deserialisation", "files", "templates", "cors",
        "redirect",
    }  # fmt: skip


def test_a_project_may_doubt_what_is_built_in(tmp_path: Path) -> None:
    own = tmp_path / ".swarm/gates" / FILE
    own.parent.mkdir(parents=True)
    own.write_text('[[kind]]\nid = "process"\nwords = ["tainted"]\n[kind.python]\ndoubtful = ["eval"]\n')
    definition = load(tmp_path)
    assert reasons("a.py", "def f(x):\n    return eval(x)\n", definition=definition) == ""
    assert "calls eval" in reasons("a.py", "def f(tainted):\n    return eval(tainted)\n", definition=definition)


def test_the_company_of_a_call_is_its_function_and_no_other() -> None:
    code = "import hashlib\n\ndef key(b):\n    return hashlib.sha256(b)\n\ndef other(password):\n    return password\n"
    assert "hashlib" not in reasons("a.py", code)


def test_a_pattern_is_no_regular_expression() -> None:
    definition = parsed({"kind": [{"id": "x", "javascript": {"calls": ["*.$query", "a.b"]}}]}, "own.toml")
    assert "calls db.$query" in reasons("a.js", "db.$query('x');\n", definition=definition)
    assert reasons("a.js", "axb();\n", definition=definition) == ""


@pytest.mark.parametrize(
    ("language", "code", "kind", "name"),
    [
        ("python", "from a.b import (c as d)\nd.e(1)\n", Kind.CALL, "a.b.c.e"),
        ("python", "x[0].run()\n", Kind.CALL, "x.run"),
        ("python", "(a or b).run()\n", Kind.CALL, "?.run"),
        ("javascript", "import d, * as all from 'm';\nall.x(d.y);\n", Kind.CALL, "m.x"),
        ("javascript", "const m = await import('m');\nm.f?.();\n", Kind.CALL, "m.f"),
        ("rust", "use a::{b::{self, c}, d as e};\nfn f() { c(); e::g(); }\n", Kind.CALL, "a.d.g"),
        ("php", "<?php\nuse A\\B as C;\nC::make();\n", Kind.CALL, "A.B.make"),
        ("csharp", "using X = A.B;\nclass C { void F() { X.D.E(); } }\n", Kind.CALL, "A.B.D.E"),
        ("java", "import a.b.C;\nclass D { void f() { C.g().h(); } }\n", Kind.CALL, "a.b.C.g.h"),
        ("go", 'package a\nimport "x/y/v2"\nfunc f() { y.Z() }\n', Kind.CALL, "x/y/v2.Z"),
        ("ruby", "require 'net/http'\n", Kind.IMPORT, "net/http"),
    ],
)
def test_names_are_spelled_by_their_origin(language: str, code: str, kind: Kind, name: str) -> None:
    found, _ = uses("a.x", language, code.encode(), range(1, 20))
    assert (kind, name) in {(use.kind, use.name) for use in found}
