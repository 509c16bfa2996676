"""Readers of published labelled data sets: turn a checkout of a set into cases.

A set of your own is a file of JSON lines, one case each: `gate`, `expected` (true or false), and `path` (relative to
the file) or `content` with a `path` to name it; optional `category`, `cwe` (one or a list), `rule` (a beginning),
`line` and `before` (the content that the change starts from).
"""

from __future__ import annotations

import ast
import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Severity
from swarmgate.errors import UsageError
from swarmgate.evaluation.case import Case
from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A kind of labelled data: what it is, where it comes from, and who reads it."""

    about: str
    source: str
    read: Callable[[Path], Iterator[Case]]


def bandit(root: Path) -> Iterator[Case]:
    """PyCQA/bandit: its example files; one is positive where bandit's own tests expect an issue in it."""
    tests = _text(root / "tests/functional/test_functional.py")
    for name, expected in _expected_issues(ast.parse(tests)).items():
        path = root / "examples" / name
        if path.is_file():
            files = {f"examples/{name}": path.read_bytes()}
            yield Case("sast_scan", "examples", expected, files, severity=Severity.INFO, place=name)


def leaky_repo(root: Path) -> Iterator[Case]:
    """Plazmaz/leaky-repo: every file that its list counts a secret in; one is enough for a hit."""
    for row in csv.reader(_text(root / ".leaky-meta/secrets.csv").splitlines()):
        if row and not row[0].startswith("#") and (root / row[0]).is_file() and int(row[1]):
            yield Case("secret_scan", "files with a secret", True, {row[0]: (root / row[0]).read_bytes()}, place=row[0])


def owasp(root: Path) -> Iterator[Case]:
    """An OWASP benchmark (Python or Java): one file a case, with its category, weakness and label in a CSV file."""
    tables = sorted(root.glob("expectedresults-*.csv"))
    if not tables:
        raise UsageError(f"{root}: no expectedresults-*.csv is there", hint="Name a checkout of an OWASP benchmark.")
    files = {path.stem: path for path in root.rglob("BenchmarkTest*") if path.suffix in {".py", ".java"}}
    for row in csv.reader(_text(tables[-1]).splitlines()):
        path = files.get(row[0]) if row else None
        if path is not None:
            cwes = frozenset({f"CWE-{row[3].strip()}"}) | _RELATED.get(row[3].strip(), frozenset())
            yield Case(
                "sast_scan", row[1], row[2].strip().lower() == "true", {path.name: path.read_bytes()}, cwes=cwes,
                severity=Severity.LOW, place=path.name,
            )  # fmt: skip


_RELATED = {
    "22": frozenset({"CWE-23", "CWE-36", "CWE-73"}), "78": frozenset({"CWE-77", "CWE-88"}),
    "94": frozenset({"CWE-95", "CWE-96"}), "328": frozenset({"CWE-327", "CWE-916"}),
    "327": frozenset({"CWE-326", "CWE-328"}), "330": frozenset({"CWE-338"}), "614": frozenset({"CWE-1004", "CWE-311"}),
    "611": frozenset({"CWE-20", "CWE-776", "CWE-827"}), "79": frozenset({"CWE-80"}), "643": frozenset({"CWE-91"}),
}  # fmt: skip
"""Weaknesses that name the same thing more or less precisely (their parents and children in the CWE tree)."""


def quixbugs(path: Path) -> Iterator[Case]:
    """Correct programs as JSON lines with `name` and `correct`: no gate that reads code may object to them."""
    for number, record in _records(path):
        source = record.get("correct")
        if not isinstance(source, str):
            raise UsageError(f"{path}:{number}: key 'correct': the program's text is missing")
        files = {f"{record.get('name', number)}.py": source.encode()}
        for gate in ("syntax_check", "placeholder_scan", "secret_scan", "sast_scan", "imports"):
            yield Case(gate, "correct programs", False, files, severity=Severity.MEDIUM, place=next(iter(files)))


def labels(path: Path) -> Iterator[Case]:
    """A set of the user's own (see the head of this module)."""
    for number, record in _records(path):
        try:
            name, gate, expected = record["path"], record["gate"], record["expected"]
            if not isinstance(expected, bool) or not isinstance(name, str) or not isinstance(gate, str):
                raise UsageError(f"{path}:{number}: `path` and `gate` are texts, `expected` is true or false")
            content = record.get("content")
            after = {name: content.encode() if content is not None else (path.parent / name).read_bytes()}
            before = {name: record["before"].encode()} if "before" in record else {}
            cwe = record.get("cwe", ())
            yield Case(
                gate, str(record.get("category", gate)), expected, after, before,
                frozenset([cwe] if isinstance(cwe, str) else cwe), tuple(filter(None, [record.get("rule", "")])),
                int(record.get("line", 0)), place=f"{name}:{record['line']}" if "line" in record else name,
            )  # fmt: skip
        except KeyError as error:
            raise UsageError(f"{path}:{number}: key {error} is missing") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path}:{number}: {error}") from error


SETS: dict[str, LabelledSet] = {
    "bandit": LabelledSet("bandit's example files", "a checkout of PyCQA/bandit", bandit),
    "labels": LabelledSet("labelled cases of your own", "a file of JSON lines", labels),
    "leaky-repo": LabelledSet("files with secrets", "a checkout of Plazmaz/leaky-repo", leaky_repo),
    "owasp": LabelledSet("web weaknesses by category", "a checkout of OWASP-Benchmark/BenchmarkPython", owasp),
    "quixbugs": LabelledSet("correct small programs", "quixbugs.jsonl", quixbugs),
}
"""Sets that need data on this machine, by the name that the command line gives them."""


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except ValueError as error:
                raise UsageError(f"{path}:{number}: not JSON: {error}") from error
            if not isinstance(record, dict):
                raise UsageError(f"{path}:{number}: a case is a JSON object")
            yield number, record


def _text(path: Path) -> str:
    try:
        return regular.given(path, limit=regular.LIMIT_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", hint="`swarm eval list` says what each set is.") from error


def _expected_issues(tree: ast.AST) -> dict[str, bool]:
    """Of every `check_example(name, expect)` in bandit's tests: whether `expect` counts any issue."""
    found: dict[str, bool] = {}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        positive = any(_counts_an_issue(node) for node in ast.walk(function))
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr="check_example"), args=[ast.Constant(str(name)), *_]):
                    found[name] = found.get(name, False) or positive
                case ast.Assign(targets=[ast.Name("example_file")], value=ast.Constant(str(name))):
                    found[name] = found.get(name, False) or positive
    return found


def _counts_an_issue(node: ast.AST) -> bool:
    """Whether this is the entry `"SEVERITY": {..}` of an `expect` with a number that is not 0, or a named one."""
    match node:
        case ast.Dict(keys=[ast.Constant("SEVERITY"), *_], values=[ast.Dict(values=counts), *_]):
            return any(not (isinstance(count, ast.Constant) and count.value == 0) for count in counts)
    return False
