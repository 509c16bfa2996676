"""Tests the diff gate's API check: breaking changes inform, users that were not updated block."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    Project = Any

LIB = "def load(path, mode='r'):\n    return path\n\n\ndef save(path):\n    return path\n"
USER = "from pkg.lib import load, save\n\nload('a', mode='w')\nsave('b')\n"


def found(project: Project) -> list[tuple[str, str, int]]:
    return [(each.rule, each.path, each.line) for each in project.gate("diff").findings]


def start(project: Project, **files: str) -> None:
    project.commit_files({"pkg/__init__.py": "", **files})


def test_a_user_that_still_passes_a_removed_parameter_blocks(project: Project) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": USER})
    project.write("pkg/lib.py", LIB.replace(", mode='r'", ""))
    result = project.gate("diff")
    user, contract = result.findings
    assert result.status is GateStatus.FAIL
    assert (user.rule, user.severity, user.place) == ("contract-user-broken", Severity.HIGH, "app.py:3:1")
    assert user.message == (
        "still calls `load` the old way: it passes `mode=`, which is no parameter; the change broke it: "
        "parameter `mode` was removed (pkg/lib.py:1)"
    )
    assert (contract.rule, contract.severity) == ("contract-parameter-removed", Severity.LOW)
    assert "was `load(path, mode='r')`, is `load(path)`" in contract.message
    assert contract.message.endswith("1 file uses it, not changed with it: app.py")
    assert all(each.fingerprint and each.new for each in result.findings)


def test_a_contract_whose_users_were_updated_passes(project: Project) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": USER})
    project.write("pkg/lib.py", LIB.replace(", mode='r'", ""))
    project.write("app.py", USER.replace(", mode='w'", ""))
    result = project.gate("diff")
    assert result.status is GateStatus.PASS
    assert [each.rule for each in result.findings] == ["contract-parameter-removed"]
    assert result.findings[0].message.endswith("1 file uses it, changed with it")


def test_a_change_of_bodies_says_nothing(project: Project) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": USER})
    project.write("pkg/lib.py", LIB.replace("return path", "return str(path)") + "\n\ndef other():\n    return 1\n")
    assert found(project) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("user", "line"),
    [
        ("from pkg.lib import save\n", 1),
        ("from pkg import lib\nlib.save(1)\n", 2),
        ("import pkg.lib as other\nprint(other.save)\n", 2),
        ("import pkg.lib\n\ndef f():\n    return pkg.lib.save(1)\n", 4),
        ("from pkg.lib import *\nsave(1)\n", 2),
    ],
)
def test_who_still_uses_a_removed_name(project: Project, user: str, line: int) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": user})
    project.write("pkg/lib.py", LIB.partition("\n\n\n")[0] + "\n")
    assert ("contract-user-broken", "app.py", line) in found(project)


@pytest.mark.slow
@pytest.mark.parametrize(
    "user",
    [
        "try:\n    from pkg.lib import save\nexcept ImportError:\n    save = None\n",
        "from pkg import lib\nif hasattr(lib, 'save'):\n    lib.save(1)\n",
        "from other import save\nimport pkg.lib\nsave(1)\n",
        "from pkg import lib\n\ndef f(lib):\n    return lib.save(1)\n",
        "import pytest\nfrom pkg import lib\nwith pytest.raises(AttributeError):\n    lib.save(1)\n",
        "from pkg.lib import load\nsave = load\nsave(1)\n",
        "import pkg.lib\ntext = 'pkg.lib.save'  # pkg.lib.save(1)\n",
    ],
)
def test_who_only_seems_to_use_it(project: Project, user: str) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": user})
    project.write("pkg/lib.py", LIB.partition("\n\n\n")[0] + "\n")
    assert [rule for rule, _, _ in found(project)] == ["contract-removed"]


def test_a_re_export_is_followed(project: Project) -> None:
    start(project, **{"pkg/__init__.py": "from ._impl import f\n", "pkg/_impl.py": "def f(a): ...\ndef g(a): ...\n",
                      "app.py": "import pkg\npkg.f(1)\n"})  # fmt: skip
    project.write("pkg/_impl.py", "def f(a, b): ...\ndef g(): ...\n")
    assert found(project) == [
        ("contract-user-broken", "app.py", 2),
        ("contract-parameter-added-required", "pkg/_impl.py", 1),
    ]


def test_what_is_called_in_its_own_file(project: Project) -> None:
    start(project, **{"pkg/lib.py": "def _f(a):\n    return a\n\n\ndef g():\n    return _f(1)\n"})
    project.write("pkg/lib.py", "def _f(a, b):\n    return a\n\n\ndef g():\n    return _f(1)\n")
    assert found(project) == [("contract-user-broken", "pkg/lib.py", 6)]


def test_methods_of_objects_whose_class_is_known(project: Project) -> None:
    old = "class C:\n    def m(self, a):\n        return a\n\n    def n(self):\n        return self.m(1)\n"
    user = "from pkg.lib import C\n\nc = C()\nc.m(1)\nC().m(1)\n\n\ndef f(c: C, d):\n    c.m(1)\n    d.m(1)\n"
    start(project, **{"pkg/lib.py": old, "app.py": user})
    project.write("pkg/lib.py", old.replace("(self, a)", "(self, a, b)"))
    places = [(path, line) for rule, path, line in found(project) if rule == "contract-user-broken"]
    assert places == [("app.py", 4), ("app.py", 5), ("app.py", 9), ("pkg/lib.py", 6)]


def test_a_module_that_moved(project: Project) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": "from pkg.lib import load\n"})
    (project.root / "pkg/lib.py").rename(project.root / "pkg/library.py")
    (broken,) = project.gate("diff").findings
    assert (broken.rule, broken.place) == ("contract-user-broken", "app.py:1:1")
    assert "module pkg.lib was renamed: it is pkg/library.py now (pkg/library.py)" in broken.message
    project.write("pkg/lib.py", "from pkg.library import load, save\n")
    assert found(project) == []


def test_what_is_inherited_is_not_gone(project: Project) -> None:
    base = "class B:\n    def m(self):\n        return 1\n"
    old = "import json\nfrom pkg.base import B\n\n\nclass C(B):\n    def m(self):\n        return 2\n\n\n"
    old += "class J(json.JSONEncoder):\n    def default(self, o):\n        return 1\n"
    start(project, **{"pkg/base.py": base, "pkg/lib.py": old})
    new = "import json\nfrom pkg.base import B\n\n\nclass C(B):\n    pass\n\n\nclass J(json.JSONEncoder):\n    pass\n"
    project.write("pkg/lib.py", new)
    assert found(project) == []


def test_tests_and_private_modules_have_no_contract(project: Project) -> None:
    start(project, **{"tests/test_a.py": "def helper(a): ...\n", "pkg/_impl.py": "def f(a): ...\n"})
    project.write("tests/test_a.py", "x = 1\n")
    project.write("pkg/_impl.py", "x = 1\n")
    assert found(project) == []


def test_what_does_not_parse_is_told_and_passes(project: Project) -> None:
    start(project, **{"pkg/lib.py": LIB})
    project.write("pkg/lib.py", "def f(:\n")
    result = project.gate("diff")
    assert result.findings == ()
    assert "contracts of 1 python files not read: they do not parse" in result.reason


CASES = {
    "typescript": (
        {"lib.ts": "export function f(a: number) {}\nexport function g() {}\n", "index.ts": "export * from './lib'\n",
         "use.ts": "import { f } from './index'\nf(1)\n", "old.ts": "import { g } from './lib'\n"},
        {"lib.ts": "export function f(a: number, b: number) {}\n"},
        [("old.ts", 1), ("use.ts", 2)],
    ),
    "commonjs": (
        {"lib.js": "module.exports = { a: function (x) {}, b: 1 }\n",
         "use.js": "const { a, b } = require('./lib')\nconst lib = require('./lib')\nlib.b()\na(1)\n"},
        {"lib.js": "module.exports = { a: function (x) {} }\n"},
        [("use.js", 1)],
    ),
    "go": (
        {"go.mod": "module ex.com/m\n", "lib/a.go": "package lib\n\nfunc F(a int) {}\n\nfunc G() {}\n",
         "lib/b.go": "package lib\n\nfunc h() { G() }\n",
         "use/u.go": 'package use\n\nimport "ex.com/m/lib"\n\nfunc u() {\n\tlib.F(1)\n\tlib.G()\n}\n'},
        {"lib/a.go": "package lib\n\nfunc F(a, b int) {}\n"},
        [("lib/b.go", 3), ("use/u.go", 6), ("use/u.go", 7)],
    ),
    "rust": (
        {"src/lib.rs": "pub mod a;\npub mod u;\n", "src/a.rs": "pub fn f(a: u8) {}\npub fn g() {}\n",
         "src/u.rs": "use crate::a::{f, g};\nfn u() { f(1); }\n"},
        {"src/a.rs": "pub fn f(a: u8, b: u8) {}\n"},
        [("src/u.rs", 1), ("src/u.rs", 2)],
    ),
    "java": (
        {"src/a/T.java": "package a;\npublic class T { public T(int x) {} public void gone() {} }\n",
         "src/b/U.java": "package b;\nimport a.T;\nclass U { void u() {\n T t = new T(1);\n t.gone();\n} }\n"},
        {"src/a/T.java": "package a;\npublic class T { public T() {} }\n"},
        [("src/b/U.java", 4), ("src/b/U.java", 5)],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", CASES)
def test_users_in_other_languages(project: Project, language: str) -> None:
    before, after, expected = CASES[language]
    project.commit_files(before)
    for path, content in after.items():
        project.write(path, content)
    result = project.gate("diff")
    broken = [(each.path, each.line) for each in result.findings if each.rule == "contract-user-broken"]
    assert (broken, result.status) == (expected, GateStatus.FAIL)


def test_a_call_that_passed_too_little_before_is_not_broken_by_the_change(project: Project) -> None:
    before = "exports.f = (a, b) => b ? a : 1\n"
    project.commit_files({"lib.js": before, "use.js": "const { f } = require('./lib')\nf()\nf(1, 2)\n"})
    project.write("lib.js", "exports.f = (a, b, c) => b ? a : c.d\n")
    broken = [line for rule, _, line in found(project) if rule == "contract-user-broken"]
    assert broken == [3]


def test_what_is_not_followed_is_said(project: Project) -> None:
    project.commit_files({
        "go.mod": "module ex.com/m\n", "lib/a.go": "package lib\n\ntype T int\n\nfunc (t T) M(a int) {}\n",
        "crates/cli/src/lib.rs": "pub fn is_tty() -> bool { true }\npub mod a;\n",
        "crates/cli/src/a.rs": "pub struct S;\nimpl S { pub fn m(&self) {} }\n",
    })  # fmt: skip
    project.write("lib/a.go", "package lib\n\ntype T int\n\nfunc (t T) M(a, b int) {}\n")
    project.write("crates/cli/src/lib.rs", "pub fn is_tty(a: u8) -> bool { true }\npub mod a;\n")
    project.write("crates/cli/src/a.rs", "pub struct S;\nimpl S { pub fn m(&self, a: u8) {} }\n")
    messages = {each.path: each.message for each in project.gate("diff").findings}
    assert messages["lib/a.go"].endswith("who uses it is not known: methods of Go are not followed")
    assert messages["crates/cli/src/lib.rs"].startswith("the contract of `cli::is_tty` broke")
    assert messages["crates/cli/src/lib.rs"].endswith("(re-exports, `pub use`, and macros are not followed)")
    assert messages["crates/cli/src/a.rs"].startswith("the contract of `cli::a::S::m` broke")
    assert messages["crates/cli/src/a.rs"].endswith("methods of Rust are not followed")


def test_a_java_type_that_two_modules_have_is_nobodys_user(project: Project) -> None:
    type_ = "package a;\npublic class T { }\n"
    user = "package b;\nimport a.T;\nclass U { T t; }\n"
    project.commit_files({"x/src/a/T.java": type_, "y/src/a/T.java": type_, "y/src/b/U.java": user})
    (project.root / "x/src/a/T.java").unlink()
    assert [rule for rule, _, _ in found(project)] == ["contract-removed"]


def test_a_go_name_that_each_platform_has_is_not_gone(project: Project) -> None:
    code = "package lib\n\nfunc F() {}\n"
    project.commit_files({"lib/a_linux.go": code, "lib/a_windows.go": code})
    (project.root / "lib/a_linux.go").unlink()
    assert found(project) == []


def test_a_body_is_milliseconds_and_a_name_in_many_files_is_not_seconds(project: Project) -> None:
    files = {f"pkg/m{number}.py": f"from pkg.lib import load\n\nload({number})\n" for number in range(300)}
    start(project, **{"pkg/lib.py": LIB, **files})
    project.write("pkg/lib.py", LIB.replace("load(path, mode='r')", "load(path, *, mode='r')"))
    began = time.process_time()
    assert ("contract-parameter-kind-changed", "pkg/lib.py", 1) in found(project)
    assert time.process_time() - began < 10  # a busy machine; it takes half a second


def test_a_name_that_is_gone_is_one_fact_whoever_uses_it(project: Project) -> None:
    start(project, **{"pkg/lib.py": LIB, "app.py": "from pkg.lib import (\n    load,\n    save,\n)\n"})
    project.write("pkg/lib.py", LIB.replace("def load", "def _load"))
    messages_found = [
        (each.gate, found.rule, found.path, found.also) for each in project.run().results for found in each.findings
    ]
    assert [each for each in messages_found if each[0] in {"diff", "imports"}] == [
        ("diff", "contract-user-broken", "app.py", ("imports",))
    ]


def test_a_name_that_is_gone_is_told_where_it_stood_when_not_all_its_users_are_certain(
    project: Project,
) -> None:
    users = {"app.py": "from pkg.lib import load\n", "other.py": "import pkg.lib\nload = getattr(pkg.lib, 'load')\n"}
    start(project, **{"pkg/lib.py": LIB, **users, "third.py": "from pkg.lib import load  # type: ignore\n"})
    project.write("pkg/lib.py", LIB.replace("def load", "def _load"))
    assert [rule for rule, _, _ in found(project)] == ["contract-user-broken", "contract-removed"]


def test_a_file_of_code_that_is_called_env_is_code(project: Project) -> None:
    use = "const lib = require('./lib');\nlib.load(1);\n"
    project.commit_files({"lib.js": "exports.load = function (a) { return a; };\n", "env.js": use})
    project.write("lib.js", "exports.store = function (a) { return a; };\n")
    result = project.gate("diff")
    assert result.status is GateStatus.FAIL
    assert "env.js" in {each.path for each in result.findings}, result.findings
    project.write("env.py", "def upgrade(:\n")
    assert project.gate("syntax_check").status is GateStatus.FAIL


def test_a_java_constructor_that_became_narrower_beside_a_new_one_still_serves_its_package(project: Project) -> None:
    user = "package {};\n{}class {} {{ Object o = new T(1); }}\n"
    project.commit_files({
        "src/main/java/a/b/T.java": "package a.b;\npublic class T {\n  public T(int x) {}\n}\n",
        "src/test/java/a/b/Near.java": user.format("a.b", "", "Near"),
        "src/main/java/c/Far.java": user.format("c", "import a.b.T;\n", "Far"),
    })  # fmt: skip
    project.write(
        "src/main/java/a/b/T.java", "package a.b;\npublic class T {\n  T(int x) {}\n  public T(int x, int y) {}\n}\n"
    )
    users = {each.path for each in project.gate("diff").findings if each.rule == "contract-user-broken"}
    assert users == {"src/main/java/c/Far.java"}
    project.write("src/main/java/a/b/T.java", "package a.b;\npublic class T {\n  public T(int x, int y) {}\n}\n")
    users = {each.path for each in project.gate("diff").findings if each.rule == "contract-user-broken"}
    assert users == {"src/main/java/c/Far.java", "src/test/java/a/b/Near.java"}
