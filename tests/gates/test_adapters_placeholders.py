"""Tests the placeholder gate: stubs, markers and elided code are found, rightly empty code is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.adapters import placeholders
from swarmgate.gates.project.files import language_of, traits_of
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    Project = Any


def rules(path: str, text: str) -> Any:
    findings = placeholders.scan_file(SourceFile.of(path, language_of(path), traits_of(path), text.encode()))
    return findings if isinstance(findings, str) else [(finding.rule, finding.line) for finding in findings]


@pytest.mark.parametrize(
    "text",
    [
        "# TODO: finish\n", "x = 1  # FIXME\n", "# XXX this breaks\n", "#TODO(ann) later\n",
        "# works. TODO handle errors\n",
        '"""Parser.\n\nTODO: write it\n"""\n', "# HACK: around\n", "#: TBD\n",
    ],
)  # fmt: skip
def test_markers(text: str) -> None:
    assert [rule for rule, _ in rules("a.py", text)] == ["marker"]


@pytest.mark.parametrize(
    "text",
    [
        'x = "TODO: this is data"\n', "# finds TODO and FIXME in comments\n", "# a number as XXX-XX-XXXX\n",
        "todo = 1\n",
        "# the 'TODO' marker\n", "# see TODO.md\n", "# mastodon TODOs\n", "# TODO/FIXME markers are found\n",
    ],
)  # fmt: skip
def test_words_that_are_no_markers(text: str) -> None:
    assert rules("a.py", text) == []


@pytest.mark.parametrize(
    "body",
    [
        "pass", "...", "raise NotImplementedError", "raise NotImplementedError('later')", '"""Doc."""\n    pass',
        '"""Parse it."""',
    ],
)  # fmt: skip
def test_functions_without_a_body(body: str) -> None:
    assert rules("a.py", f"x = 1\ndef parse(text) -> int:\n    {body}\n") == [("stub-body", 2)]
    assert rules("a.py", f"class A(Base):\n  async def parse(text) -> int:\n    {body}\n") == [("stub-body", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "class A(Protocol):\n    def f(self) -> int: ...\n",
        "class A(Protocol[T]):\n    def f(self) -> int:\n        '''Doc.'''\n",
        "class A(abc.ABC):\n    def f(self): pass\n",
        "class A(metaclass=ABCMeta):\n    def f(self): raise NotImplementedError\n",
        "class A:\n    @abc.abstractmethod\n    def f(self): pass\n",
        "@typing.overload\ndef f(x: int) -> int: ...\n",
        "class A:\n    def f(self): raise NotImplementedError\nclass B(A):\n    def f(self): return 1\n",
        "try:\n    x()\nexcept OSError:\n    pass\n",
        "def f():\n    return None\n",
        "class Error(Exception):\n    pass\n",
        "def log_message(self, *args):\n    pass  # silence the server\n",
        "def on_start(self) -> None:\n    '''Does nothing by default.'''\n",
        "def noop():\n    pass\n",
        "class NullWriter:\n    def write(self, text): pass\n",
        "if TYPE_CHECKING:\n    def f() -> int: ...\n",
        "@click.group()\ndef cli():\n    pass\n",
        "def f(x: tuple[int, ...] = ...) -> None:\n    g(x[..., 0])\n",
    ],
)
def test_bodies_that_are_rightly_empty(text: str) -> None:
    assert rules("a.py", text) == []


def test_a_stub_file_is_all_declarations() -> None:
    assert rules("a.pyi", "def f() -> int: ...\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "# rest of the code unchanged\n", "# ... existing code ...\n", "# existing code here\n",
        "# ... rest of the function\n",
        "# (rest of the file remains the same)\n", "# ... implementation\n", "# other methods unchanged\n",
        "# code omitted for brevity\n", "def f():\n    a()\n    ...\n    b()\n", "x = 1\n# ...\ny = 2\n",
    ],
)  # fmt: skip
def test_elided_code(text: str) -> None:
    assert [rule for rule, _ in rules("a.py", text)] == ["elided-code"]


@pytest.mark.parametrize(
    "text",
    [
        "# In a real implementation, this would call the API\n", "# For now, just return a constant\n",
        "# this is a stub\n", "# placeholder implementation\n", "# Not implemented yet.\n", "# your code goes here\n",
    ],
)  # fmt: skip
def test_stub_wording(text: str) -> None:
    assert [rule for rule, _ in rules("a.py", text)] == ["stub-wording"]


@pytest.mark.parametrize(
    "text",
    [
        "# reads the rest of the file\n", "# existing code is kept\n", "# for now\n", "# the remaining fields\n",
        "# falls back where fork is not implemented by the kernel\n", "# a real number\n", "# Other methods\n",
        "# a list\n# ...\n# of things\n",
    ],
)  # fmt: skip
def test_ordinary_comments(text: str) -> None:
    assert rules("a.py", text) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.js", 'const u = "http://x//TODO: no";\n// TODO: yes\n', 2),
        ("a.ts", "/*\n * fine\n * FIXME: yes\n */\n", 3),
        ("a.go", "x := `// TODO: no`\n/* TODO: yes */\n", 2),
        ("a.rs", "fn f<'a>(x: &'a str) {} // TODO: yes\n", 1),
        ("a.sh", "echo ${#x} '# TODO: no'\n# TODO: yes\n", 2),
        ("a.yaml", "a: 'x # TODO: no'\nb: 1  # TODO: yes\n", 2),
        ("a.sql", "select '-- TODO: no';\n-- TODO: yes\n", 2),
        ("a.html", "<p>TODO: no</p>\n<!-- TODO: yes -->\n", 2),
        ("a.lua", "--[[ one\nTODO: yes ]]\n", 2),
        ("Dockerfile", "# TODO: yes\n", 1),
        ("a.c", "/* TODO: yes, and never closed", 1),
        ("a.vue", "<template><p>x</p></template>\n<script>\n// TODO: yes\n</script>\n", 3),
        ("a.kt", 'val x = "// TODO: no" // TODO: yes\n', 1),
        ("a.tsx", "const A = () => <p>{/* TODO: yes */}it's // TODO no</p>;\n", 1),
        ("a.rb", 'x = "# TODO: no #{y}" # TODO: yes\n', 1),
    ],
)
def test_comments_of_other_languages(path: str, text: str, line: int) -> None:
    assert rules(path, text) == [("marker", line)]


def test_elided_code_in_other_languages() -> None:
    assert rules("a.js", "// ... existing code ...\n") == [("elided-code", 1)]


def test_tests_and_documentation_have_rules_of_their_own() -> None:
    text = "class Double:\n    def run(self): ...\n# TODO: more cases\n# for now, return\n"
    assert rules("tests/test_a.py", text) == [("marker", 3)]
    assert rules("tests/test_a.py", "# ... rest of the tests unchanged\n") == [("elided-code", 1)]
    assert rules("README.md", "TODO: all\n\n```\n# TODO: sample\n```\n") == [("marker", 1)]
    assert rules("notes.txt", "TODO: all\n") == "text"


@pytest.mark.parametrize("text", ["/*" * 200_000, '\\"' * 10_000, "'" * 200_000, "<!--" * 100_000, "`" * 200_001])
def test_the_lexer_is_linear(text: str) -> None:
    for path in ("a.pl", "a.xml", "a.py"):  # languages that are lexed
        assert rules(path, text) in ([], [("marker", 1)])


def test_deep_code_does_not_break_the_scanner() -> None:
    chain = "x = " + " + ".join("a" for _ in range(900)) + "\n"
    branches = "if a: b()\n" + "elif a: b()\n" * 80
    assert rules("a.py", f"{chain}{branches}def f(): pass\n") == [("stub-body", 83)]


def test_only_what_the_change_brings_blocks(project: Project) -> None:
    project.commit_files({"a.py": "def f():\n    pass\n\n\n# TODO: old\n"})
    project.write("a.py", "x = 1\n\n\n# TODO: old\ndef f():\n    pass\n")
    assert project.gate("placeholder_scan").status is GateStatus.PASS
    project.write("a.py", "def f():\n    pass\n\n\ndef g():\n    pass\n\n\n# TODO: old\n")
    result = project.gate("placeholder_scan")
    assert [(finding.line, finding.new) for finding in result.findings] == [(1, False), (5, True), (9, False)]
    assert result.status is GateStatus.FAIL


@pytest.mark.parametrize(
    "text",
    [
        "# TODO: drop this with the next major\n# https://example.org/project/issues/12\nx = 1\n",
        "# TODO: drop this\n# with the next major, once\n# see #1204\nx = 1\n",
        "x = 1  # TODO: drop this\n# see #1204\n",
        "# TODO: drop this when it is solved there:\n# github.com/ada/project/issues/10045\nx = 1\n",
    ],
)
def test_an_issue_on_the_next_line_of_the_comment_holds_the_work(project: Project, text: str) -> None:
    project.write("src/a.py", text)
    result = project.gate("placeholder_scan")
    assert (result.status, [each.severity for each in result.findings]) == (GateStatus.PASS, [Severity.LOW])


@pytest.mark.parametrize(
    "text",
    [
        "# TODO: drop this\nx = 1\n# see #1204\n",
        "# TODO: drop this\n# TODO: and that, see #1204\nx = 1\n",
        "# see #1204\n# TODO: drop this\nx = 1\n",
        "x = 1  # TODO: drop this\ny = 2  # see #1204\n",
    ],
)
def test_an_issue_elsewhere_holds_none(project: Project, text: str) -> None:
    project.write("src/a.py", text)
    assert project.gate("placeholder_scan").status is GateStatus.FAIL


def test_a_marker_that_only_moved_or_was_reworded_is_old(project: Project) -> None:
    marker = "# XXX: this behaviour was deprecated because it was unreliable\n"
    project.commit_files({"src/a.py": f"x = 1\n{marker}y = 2\n", "src/b.py": "z = 3\n"})
    project.write("src/a.py", f"x = 1\n{marker.replace('behaviour', 'behavior')}y = 2\n")
    assert project.gate("placeholder_scan").status is GateStatus.PASS
    project.write("src/a.py", "x = 1\ny = 2\n")
    project.write("src/new/c.py", f"def f(a):\n    {marker}    return a + 1\n")
    result = project.gate("placeholder_scan")
    assert (result.status, [each.new for each in result.findings]) == (GateStatus.PASS, [False])
    project.write("src/b.py", f"{marker}z = 3\n")
    assert len(project.gate("placeholder_scan").new_findings) == 1
    (project.root / "src/b.py").write_text("z = 3\n")
    project.write("src/new/c.py", "# XXX: quite another thing is not done here at all\nx = 1\n")
    assert project.gate("placeholder_scan").status is GateStatus.FAIL


@pytest.mark.parametrize(
    ("method", "severity"),
    [
        ('def handle(self, error):\n        """Custom error handler function for the schema."""', Severity.LOW),
        ('def bound(self, name):\n        """Called when the field is bound."""', Severity.LOW),
        ('def ready_hook(self, name):\n        """Look at the name."""\n        pass', Severity.LOW),
        ('def handle_error(self, error):\n        """Handle the error."""', Severity.HIGH),
        ('def bound(self, name) -> int:\n        """Called when the field is bound."""', Severity.HIGH),
        (
            'def bound(self, name):\n        """Called when the field is bound."""\n        # TODO\n        pass',
            Severity.HIGH,
        ),
        ("def ready_hook(self, name):\n        pass", Severity.HIGH),
        ('def add_callback(self, name):\n        """Remember the name."""', Severity.HIGH),
        ('def watch(self, name):\n        """Register a callback that is called when it changes."""', Severity.HIGH),
        ('def finish(self, name):\n        """Runs all hooks."""', Severity.HIGH),
    ],
)
def test_a_documented_hook_informs(method: str, severity: Severity) -> None:
    text = f"class Field(Other):\n    {method}\n"
    found = placeholders.scan_file(SourceFile.of("a.py", "python", frozenset(), text.encode()))
    assert not isinstance(found, str)
    assert [each.severity for each in found if each.rule == "stub-body"] == [severity]
