"""Measures the precision, recall and speed of the gate `placeholder_scan` on real code.

python benchmarks/placeholders.py recall PATH... [--each N] [--missed]   bodies of real functions replaced by stubs
python benchmarks/placeholders.py alarms PATH... [--show RULE,...]       what is found in the code as it stands
python benchmarks/placeholders.py speed PATH...                          medians by language
A PATH is a folder of code. `PARAPHRASED` was at hand when the hints were widened, `HELD_OUT` was written
after the last rule and no rule was written for it.
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.gates.adapters import placeholders
from swarmgate.gates.placeholders import trees
from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.source.file import SourceFile
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.domain.review.finding import Finding

KNOWN = (
    "TODO: implement", "FIXME: write this", "placeholder", "stub", "dummy value", "mock data", "hardcoded for now",
    "simplified version", "not implemented yet", "For now, return a constant",
    "In a real implementation, this would query the database", "in production, you would check the token here",
    "this is a simplified implementation", "implement me", "your code here", "add logic here",
    "will be implemented later", "temporary stub until the service is ready",
)  # fmt: skip
PARAPHRASED = (
    "needs to be filled out once the schema is final", "we just fake it here", "pretend everything went fine",
    "nothing real happens yet", "return something sensible until the parser exists", "proper handling comes later",
    "bogus result so that callers work", "this should call the payment API", "skeleton only",
    "left blank, to be finished", "hard coded sample response", "wire this up to the database",
    "made-up numbers, replace with the real query", "quick and dirty, do it right later",
    "minimal version to make the tests pass",
    "the actual computation is missing", "not done", "always succeeds at the moment", "simulated answer",
    "no real validation takes place", "demo values only", "assume success until the backend is there",
)  # fmt: skip
HELD_OUT = (
    "we'll come back to this", "see the ticket for what belongs in this function",
    "left as is till the design is settled",
    "dumb default so the UI renders", "doesn't do anything useful so far", "the lookup isn't hooked up",
    "gives the same answer every time until storage works", "cheating here", "constant answer, pricing is missing",
    "awaiting the spec", "unfinished business", "just enough to unblock the frontend", "ought to read the config file",
    "nobody calls the service yet", "this is where the parsing would happen", "invented figures",
    "returns success no matter what", "shortcut", "not connected to the backend", "to be continued",
)  # fmt: skip
BARE: dict[str, tuple[str, ...]] = {
    "python": (
        "pass",
        "...",
        "raise NotImplementedError",
        "raise NotImplementedError('later')",
        "raise NotImplementedError()",
        "raise Exception('Not implemented yet')",
        "print('not implemented')",
        "logger.warning('TODO')\nreturn None",
        "assert False, 'not implemented'",
    ),
    "javascript": (
        'throw new Error("not implemented");',
        "throw new Error('TODO');",
        'console.log("not implemented");',
        'console.warn("not yet implemented");\nreturn null;',
        'return Promise.reject(new Error("not implemented"));',
    ),
    "go": ('panic("TODO")', 'panic("not implemented")', 'panic("implement me")', 'fmt.Println("not implemented")'),
    "rust": ("todo!()", "unimplemented!()", 'todo!("later")', 'panic!("not implemented")', 'unimplemented!("soon")'),
    "java": (
        'throw new UnsupportedOperationException("not implemented");',
        'throw new RuntimeException("TODO");',
        'throw new UnsupportedOperationException("Not implemented yet");',
        'System.out.println("not implemented");',
    ),
    "kotlin": ("TODO()", 'TODO("later")', "throw NotImplementedError()", 'error("not implemented")'),
    "c": ('fprintf(stderr, "not implemented\\n");', 'assert(0 && "not implemented");', "abort(); /* TODO */"),
    "cpp": (
        'throw std::logic_error("not implemented");',
        'throw std::runtime_error("TODO");',
        'assert(false && "not implemented");',
    ),
    "csharp": (
        "throw new NotImplementedException();",
        'throw new NotImplementedException("later");',
        'throw new Exception("not implemented");',
    ),
    "ruby": (
        "raise NotImplementedError",
        "raise 'not implemented'",
        "raise NotImplementedError, 'later'",
        "puts 'not implemented'",
    ),
    "php": (
        "throw new \\Exception('not implemented');",
        "throw new \\RuntimeException('TODO');",
        "throw new \\LogicException('Not implemented yet');",
    ),
    "swift": ('fatalError("not implemented")', 'fatalError("TODO")', 'preconditionFailure("implement me")'),
    "scala": ("???", "throw new NotImplementedError()", 'sys.error("not implemented")'),
    "lua": ("error('not implemented')", "error('TODO')", "print('not implemented')"),
    "dart": (
        "throw UnimplementedError();",
        "throw UnimplementedError('later');",
        "throw Exception('not implemented');",
    ),
    "bash": ("echo 'not implemented'", "echo 'TODO' >&2\nreturn 1"),
}
BARE["typescript"] = BARE["javascript"]
CANNED: dict[str, tuple[str, ...]] = {
    "python": (
        "return None",
        "return True",
        "return {}",
        "return []",
        "return 0",
        "return ''",
        "return {'status': 'ok', 'n': 1}",
        "return ['a', 'b']",
        "pass",
        "result = {'id': 1}\nreturn result",
        "print('called')\nreturn False",
    ),
    "javascript": (
        "return null;",
        "return true;",
        "return {};",
        "return [];",
        "",
        'return { id: 1, name: "x" };',
        "const r = [1, 2];\nreturn r;",
        'console.log("called");\nreturn 0;',
        "return Promise.resolve([]);",
    ),
    "go": (
        "return",
        "",
        "return nil",
        "return nil, nil",
        'return "", nil',
        "return []string{}",
        "return &User{ID: 1}, nil",
        "return true",
    ),
    "rust": (
        "Ok(())",
        "None",
        "Vec::new()",
        "0",
        "String::new()",
        "Default::default()",
        "true",
        "return false;",
        "Some(1)",
        "",
    ),
    "java": (
        "return null;",
        "",
        "return 0;",
        "return true;",
        "return new ArrayList<>();",
        "return Collections.emptyList();",
        'return "ok";',
    ),
    "kotlin": ("return null", "", "return emptyList()", "return 0", "return mapOf()", "return true"),
    "c": ("return 0;", "", "return NULL;", "return -1;", "(void)x;\nreturn 1;"),
    "cpp": ("return 0;", "", "return {};", "return nullptr;", "return std::string();", "return true;"),
    "csharp": ("return null;", "", "return 0;", "return new List<string>();", "return true;", "return default;"),
    "ruby": ("nil", "", "[]", "{}", "true", "return 0", "{ id: 1, name: 'x' }"),
    "php": ("return null;", "", "return [];", "return true;", "return ['id' => 1, 'name' => 'x'];", "return '';"),
    "swift": ("return nil", "", "return []", "return 0", "return true", 'return ""'),
    "scala": ("null", "Nil", "0", "Map()", "true", "None"),
    "lua": ("return nil", "", "return {}", "return true", "return { id = 1 }"),
    "dart": ("return null;", "", "return [];", "return {};", "return 0;", "return true;"),
    "bash": ("return 0", ":", "echo ok"),
}
CANNED["typescript"] = CANNED["javascript"]
_OPEN = {"ruby": "", "lua": "", "scala": "{"}
_SKIP = {Trait.VENDORED, Trait.GENERATED, Trait.LOCK, Trait.TEST}


def files(paths: Sequence[Path]) -> Iterator[tuple[str, str, bytes]]:
    for root in paths:
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            if not path.is_file() or path.is_symlink() or not language_of(name) or traits_of(name) & _SKIP:
                continue
            content = path.read_bytes()
            if len(content) <= MAX_BYTES:
                yield name, language_of(name), content


def findings_of(name: str, content: bytes) -> list[Finding]:
    found = placeholders.scan_file(SourceFile.of(name, language_of(name), traits_of(name), content))
    return [] if isinstance(found, str) else found


def mark(language: str, wording: str) -> str:
    return f"{'#' if language in {'python', 'ruby', 'bash'} else '--' if language == 'lua' else '//'} {wording}"


def stubs(language: str, number: random.Random) -> dict[str, str]:
    """One random stub of each kind: the bare ones, and canned results beside known and held-out wording."""
    canned = number.choice(CANNED[language])
    return {
        "bare": number.choice(BARE[language]),
        "known": f"{mark(language, number.choice(KNOWN))}\n{canned}",
        "paraphrased": f"{mark(language, number.choice(PARAPHRASED))}\n{canned}",
        "held-out": f"{mark(language, number.choice(HELD_OUT))}\n{canned}",
    }


def python_bodies(content: bytes) -> Iterator[tuple[int, int, int, str]]:
    """First and last line to replace, the line of the function, and the indentation."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            body = node.body[1:] if documented else node.body
            if len(body) >= 2 and body[0].lineno > node.lineno and not isinstance(body[0], ast.FunctionDef):
                yield body[0].lineno, node.end_lineno or 0, node.lineno, " " * body[0].col_offset


def replaced_python(content: bytes, place: tuple[int, int, int, str], stub: str) -> bytes:
    first, last, _, indent = place
    lines = content.decode("utf-8", "replace").split("\n")
    return "\n".join([*lines[: first - 1], *(indent + line for line in stub.split("\n")), *lines[last:]]).encode()


def tree_bodies(name: str, language: str, content: bytes) -> Iterator[tuple[int, int, int, str]]:
    """First and last byte to replace and the line of the function."""
    grammar = grammars.grammar_of(name, language)
    try:
        tree = trees.parse(grammar, content)
    except grammars.TooSlow:
        return
    for node in trees.function_nodes(grammar, tree):
        body = trees.body_of(node)
        if body is None or node.type in {
            "arrow_function",
            "function_expression",
            "func_literal",
            "function_definition_",
        }:
            continue
        text = body.text or b""
        braced = text.startswith(b"{") and text.endswith(b"}")
        if text.count(b"\n") < 3 or not (braced or language in {"ruby", "lua"}) or body.has_error:
            continue
        line = node.start_point.row + 1 if node.type != "function_body" else body.start_point.row + 1
        yield body.start_byte + braced, body.end_byte - braced, line, ""


def replaced(content: bytes, place: tuple[int, int, int, str], stub: str) -> bytes:
    return content[: place[0]] + f"\n{stub}\n".encode() + content[place[1] :]


def recall(paths: Sequence[Path], each: int, *, missed: bool) -> None:
    number = random.Random(7)  # noqa: S311 - a repeatable sample, not a secret
    places: defaultdict[str, list[tuple[str, bytes, tuple[int, int, int, str]]]] = defaultdict(list)
    for name, language, content in files(paths):
        if language == "python":
            places[language] += [(name, content, place) for place in python_bodies(content)]
        elif language in BARE:
            places[language] += [(name, content, place) for place in tree_bodies(name, language, content)]
    found: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for language, all_places in sorted(places.items()):
        for name, content, place in number.sample(all_places, min(each, len(all_places))):
            before = Counter((one.rule, one.message) for one in findings_of(name, content))
            for kind, stub in stubs(language, number).items():
                mutated = (replaced_python if language == "python" else replaced)(content, place, stub)
                after = Counter((one.rule, one.message) for one in findings_of(name, mutated))
                total[language, kind] += 1
                found[language, kind] += bool(after - before)
                if missed and not after - before:
                    line = place[2] if language == "python" else content.count(b"\n", 0, place[0]) + 1
                    print(f"MISSED {language} {kind} {name}:{line} {stub!r}")
    show(sorted(places), found, total)


def show(languages: Sequence[str], found: Counter[tuple[str, str]], total: Counter[tuple[str, str]]) -> None:
    kinds = ("bare", "known", "paraphrased", "held-out")
    print(f"{'language':12}" + "".join(f"{kind:>20}" for kind in kinds))
    for language in languages:
        cells = ((found[language, kind], total[language, kind]) for kind in kinds)
        print(f"{language:12}" + "".join(f"{f'{hit}/{all_} {hit / max(1, all_):.3f}':>20}" for hit, all_ in cells))
    for kind in kinds:
        hit, count = (sum(n for (_, each_kind), n in table.items() if each_kind == kind) for table in (found, total))
        print(f"all {kind}: {hit}/{count} {hit / max(1, count):.3f}")


def alarms(paths: Sequence[Path], rules: str) -> None:
    by: Counter[tuple[str, str]] = Counter()
    lines: Counter[str] = Counter()
    for name, language, content in files(paths):
        lines[language] += content.count(b"\n")
        text = content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        for one in findings_of(name, content):
            by[language, f"{one.rule} ({one.severity})"] += 1
            if one.rule in rules.split(","):
                context = " / ".join(line.strip()[:100] for line in text[one.line - 1 : one.line + 2])
                print(f"{one.place} {one.rule}: {one.message}: {context}")
    for (language, rule), count in sorted(by.items()):
        print(f"{language:12} {rule:26} {count:6}   {1000 * count / max(1, lines[language]):.2f} per 1,000 lines")


def speed(paths: Sequence[Path]) -> None:
    times, sizes = defaultdict(list), Counter[str]()
    for name, language, content in files(paths):
        findings_of(name, content)
        started = time.perf_counter()
        findings_of(name, content)
        times[language].append(time.perf_counter() - started)
        sizes[language] += content.count(b"\n")
    for language, taken in sorted(times.items()):
        rate = 1e6 * sum(taken) / max(1, sizes[language])
        print(
            f"{language:12} {len(taken):5} files   median {1000 * statistics.median(taken):6.2f} ms   {rate:6.1f} "
            f"ms per 1,000 lines"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("recall", "alarms", "speed"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=100, help="functions of each language")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--show", default="")
    given = parser.parse_args()
    if given.what == "recall":
        recall(given.paths, given.each, missed=given.missed)
    elif given.what == "alarms":
        alarms(given.paths, given.show)
    else:
        speed(given.paths)


if __name__ == "__main__":
    main()
