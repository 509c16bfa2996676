"""Measures the accuracy and speed of the gate `syntax_check` on real code.

python benchmarks/syntax.py FOLDER [LANGUAGE...]   files taken as valid: flagged, deleted brackets and truncations found
python benchmarks/syntax.py alarms PATH...         every finding in these files and folders
python benchmarks/syntax.py python FOLDER          Python broken in many ways
python benchmarks/syntax.py quixbugs FILE          the programs of quixbugs.jsonl: none may be flagged
python benchmarks/syntax.py speed PATH...          medians for one file and ten, after the first
"""

from __future__ import annotations

import ast
import io
import json
import random
import re
import statistics
import sys
import time
import tokenize
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.gates.adapters import syntax
from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.source.file import SourceFile
from swarmgate.gates.syntax import lexers, trees
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from swarmgate.domain.review.finding import Finding

_TEXT = frozenset({"", "text", "markdown", "rst", "ini"})
_ON = frozenset(trees.OFF)
_QUOTED = re.compile(rb"\\[\s\S]|\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"|'[^']*+'|#[^\n]*|(?P<mark>[()\[\]{}])")
_ANGLES = re.compile(
    rb"<(?:script|style)\b[\s\S]*?</(?:script|style)\s*>|<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|(?P<open></?)[A-Za-z][^<>\"']*(?P<close>/?>)"
)


def findings_of(name: str, content: bytes) -> list[Finding] | str:
    return syntax.scan_file(SourceFile.of(name, language_of(name), traits_of(name), content), on=_ON)


def kind_of(name: str) -> str:
    if name.endswith(".ipynb"):
        return "notebook"
    if name.endswith((".tsx", ".jsx")):
        return name[-3:]
    return language_of(name)


def files(root: Path) -> Iterator[tuple[Path, bytes]]:
    skipped = {Trait.VENDORED, Trait.GENERATED, Trait.LOCK}
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if path.is_file() and not path.is_symlink() and not {".git", ".venv", "__pycache__"} & set(path.parts):
            content = path.read_bytes()
            if len(content) <= MAX_BYTES and b"\0" not in content[:8000] and not traits_of(str(path)) & skipped:
                yield path, content


def brackets(name: str, content: bytes) -> list[tuple[int, int]]:
    """Offset and effect on the depth (1, -1, 0 where it has none) of what may be deleted."""
    language = language_of(name)
    if language in {"html", "vue", "svelte", "xml"}:
        return [(match.start(group), 0) for match in _ANGLES.finditer(content) if match["open"] for group in (1, 2)]
    if language == "yaml":
        return list(_flow(content))
    if lexers.known(language):
        marks: Iterable[tuple[int, bytes]] = lexers.marks(language, content)
    elif grammars.grammar_of(name, language) and language not in {"dockerfile", "makefile"}:
        tree = grammars.parse(grammars.grammar_of(name, language), content)
        marks = trees.leaves(tree, content)
    else:
        marks = ((match.start(), match["mark"]) for match in _QUOTED.finditer(content) if match["mark"])
    return [(offset, 1 if text in b"([{" else -1) for offset, text in marks if text in b"()[]{}"]


def _flow(content: bytes) -> Iterator[tuple[int, int]]:
    import yaml  # noqa: PLC0415 - late: the other languages do without

    text = content.decode("utf-8-sig")
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)):
            yield len(text[: token.start_mark.index].encode()), 1
        elif isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)):
            yield len(text[: token.start_mark.index].encode()), -1


def inside(marks: Sequence[tuple[int, int]], offset: int) -> bool:
    return sum(effect for place, effect in marks if place < offset) > 0


def measure(root: Path, languages: Sequence[str], most: int = 600) -> None:
    by_language: defaultdict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for path, content in files(root):
        name = str(path.relative_to(root))
        kind = kind_of(name)
        if kind not in _TEXT and (not languages or kind in languages):
            by_language[kind].append((name, content))
    print(f"{'language':12} {'files':>5} {'out':>5} {'flagged':>8} {'brackets':>9} {'cut in':>8} {'cut':>7} {'ms':>6}")
    for kind, batch in sorted(by_language.items()):
        random.Random(kind).shuffle(batch)  # noqa: S311 - a sample, and the same one each time
        _row(kind, batch[:most])


def _row(kind: str, batch: Sequence[tuple[str, bytes]]) -> None:
    counts, chance, seconds = Counter[str](), random.Random(kind), 0.0  # noqa: S311 - the same
    for name, content in batch:
        started = time.perf_counter()
        result = findings_of(name, content)
        seconds += time.perf_counter() - started
        counts["out" if isinstance(result, str) else "flagged" if result else "sound"] += 1
        if not isinstance(result, str) and not result:
            _break(name, content, counts, chance)
    judged = counts["flagged"] + counts["sound"]
    within = _share(counts["inside found"], counts["inside"])
    print(
        f"{kind:12} {judged:5} {counts['out']:5} {_share(counts['flagged'], judged):>8} "
        f"{_share(counts['bracket found'], counts['bracket']):>9} {within:>8} "
        f"{_share(counts['cut found'], counts['cut']):>7} {1000 * seconds / max(1, len(batch)):6.1f}",
        flush=True,
    )


def _break(name: str, content: bytes, counts: Counter[str], chance: random.Random) -> None:
    marks = brackets(name, content)
    for offset, _ in chance.sample(marks, min(2, len(marks))):
        counts["bracket"] += 1
        counts["bracket found"] += bool(findings_of(name, content[:offset] + content[offset + 1 :]))
    if len(content) > 20:
        offset = chance.randrange(len(content) // 10, len(content) * 9 // 10)
        found = bool(findings_of(name, content[:offset]))
        within = inside(marks, offset)
        counts.update({"cut": 1, "cut found": found, "inside": within, "inside found": within and found})


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def alarms(roots: Sequence[Path]) -> None:
    looked, found, words = 0, 0, Counter[str]()
    for root in roots:
        for path, content in files(root):
            result = findings_of(str(path), content)
            if isinstance(result, str):
                words[result] += 1
                continue
            looked += 1
            found += bool(result)
            for each in result:
                print(f"{path}:{each.line}:{each.column} {each.rule} {each.message}")
    print(f"{looked} files looked at, {found} flagged; left out: {dict(words.most_common(12))}")


_BY_HAND = {
    "return outside a function": "return 1\n",
    "yield outside a function": "yield 1\n",
    "await outside async": "def f():\n    await g()\n",
    "async for outside async": "def f():\n    async for x in y: pass\n",
    "break outside a loop": "if x:\n    break\n",
    "continue outside a loop": "continue\n",
    "duplicate argument": "def f(a, a): pass\n",
    "repeated keyword": "f(a=1, a=2)\n",
    "nonlocal at module level": "nonlocal x\n",
    "nonlocal without binding": "def f():\n    nonlocal y\n",
    "assignment to a literal": "1 = x\n",
    "assignment to a call": "f() = 1\n",
    "assignment to None": "None = 1\n",
    "augmented to a tuple": "(a, b) += 1\n",
    "del of a call": "del f()\n",
    "positional after keyword": "f(a=1, 2)\n",
    "default before plain": "def f(a=1, b): pass\n",
    "two starred": "a, *b, *c = x\n",
    "bare star": "def f(*): pass\n",
    "global after use": "def f():\n    x = 1\n    global x\n",
    "future not first": "import a\nfrom __future__ import annotations\n",
    "unknown future": "from __future__ import braces\n",
    "import star in a function": "def f():\n    from a import *\n",
    "empty f-string": "f'{}'\n",
    "open f-string": "f'{a'\n",
    "closed f-string": "f'a}'\n",
    "f-string conversion": "f'{a!z}'\n",
    "f-string expression": "f'{a b}'\n",
    "mixed tabs": "if x:\n        a\n\tb\n",
    "unexpected indent": "a\n  b\n",
    "missing indent": "if x:\na\n",
    "unindent": "if x:\n    a\n  b\n",
    "missing colon": "if x\n    a\n",
    "print statement": "print 'a'\n",
    "exec statement": "exec 'a'\n",
    "backticks": "`a`\n",
    "not equal": "a <> b\n",
    "octal": "x = 0777\n",
    "except comma": "try: pass\nexcept A, e: pass\n",
    "raise comma": "raise A, 'b'\n",
    "assignment in if": "if x = 1: pass\n",
    "else without if": "else:\n    a\n",
    "except without try": "except A:\n    a\n",
    "try alone": "try:\n    a\nb\n",
    "default except first": "try: a\nexcept: b\nexcept C: d\n",
    "unterminated string": "x = 'a\n",
    "unterminated triple": "x = '''a\n",
    "unknown character": "x = 1 ? 2\n",
    "typographic quote": "x = \u201ca\u201d\n",
    "bad number": "x = 1__0\n",
    "identifier with digit": "1a = 2\n",
    "backslash then space": "x = \\ \n1\n",
    "dict without value": "{'a': 1, 'b'}\n",
    "keyword as name": "class = 1\n",
    "lambda statement": "lambda: return\n",
    "walrus at top": "x := 1\n",
    "invalid escape": "'\\N{no such name}'\n",
    "bytes not ASCII": "b'\u00e9'\n",
    "decorator alone": "@a\n",
    "with without as target": "with a as 1: pass\n",
    "match duplicate": "match x:\n    case A(b=1, b=2): pass\n",
    "match wildcard first": "match x:\n    case _: a\n    case 1: b\n",
    "return value in async generator": "async def f():\n    yield 1\n    return 2\n",
    "nul": "x = 1\0\n",
    "unary": "x = * 2\n",
    "missing comma": "x = [1 2]\n",
    "missing operand": "x = 1 +\n",
    "star in index only": "x = *a\n",
}


def python(root: Path) -> None:
    """Mutations of valid files; a mutant counts when the compiler, or the tokenizer on its own, rejects it."""
    chance, counts = random.Random(7), defaultdict[str, Counter[str]](Counter)  # noqa: S311 - the same each time
    sources = [content.decode() for path, content in files(root) if path.suffix == ".py" and _decodes(content)]
    sources = [each for each in sources if not _rejects(each)]
    for text in chance.sample(sources, min(400, len(sources))):
        for name, mutate in _MUTATIONS.items():
            mutant = mutate(text, chance)
            broken = mutant != text and (_rejects(mutant) or _token_error(mutant))
            if broken:
                counts[name].update({"broken": 1, "found": bool(findings_of("a.py", mutant.encode()))})
    missed = [name for name, text in _BY_HAND.items() if not findings_of("a.py", text.encode())]
    for name, each in counts.items():
        print(f"{name:24} {each['found']:6} of {each['broken']:6}")
    print(f"{'by hand':24} {len(_BY_HAND) - len(missed):6} of {len(_BY_HAND):6}", *missed)


def _decodes(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _rejects(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "a.py", "exec", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT & 0)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return True
    return False


def _token_error(text: str) -> bool:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.ERRORTOKEN and token.string.strip() and token.string in "?$!":
                return True
    except (tokenize.TokenError, SyntaxError):
        return True
    return False


def _drop(pattern: str) -> Callable[[str, random.Random], str]:
    return _swap(pattern, "")


def _swap(pattern: str, replacement: str) -> Callable[[str, random.Random], str]:
    compiled = re.compile(pattern, re.MULTILINE)

    def mutate(text: str, chance: random.Random) -> str:
        places = list(compiled.finditer(text))
        if not places:
            return text
        match = chance.choice(places)
        return text[: match.start()] + match.expand(replacement) + text[match.end() :]

    return mutate


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))] if text else text


_MUTATIONS: dict[str, Callable[[str, random.Random], str]] = {
    "bracket deleted": _drop(r"[()\[\]{}]"),
    "bracket swapped": _swap(r"\)", "]"),
    "bracket doubled": _swap(r"([()\[\]{}])", r"\1\1"),
    "token deleted": _drop(r"\b(?:in|as|if|import|def|class|not|and|or|is|for|from|lambda)\b"),
    "name deleted": _drop(r"\b[a-z_]\w*\b"),
    "operator deleted": _drop(r"[=+*/%<>.,]"),
    "colon deleted": _drop(r":$"),
    "quote deleted": _drop(r"[\"']"),
    "indented": _swap(r"^(?=[ \t]*\S)", " "),
    "unindented": _drop(r"^    (?=\S)"),
    "tab": _swap(r"^        (?=\S)", "\t"),
    "keyword typo": _swap(r"\b(def|class|return|import|while|for)\b", r"x\1"),
    "keyword as name": _swap(r"\b[a-z_]\w*\b(?= =)", "class"),
    "cut": _cut,
}


def quixbugs(path: Path) -> None:
    flagged = total = 0
    for line in path.read_text().splitlines():
        program = json.loads(line)
        for key in ("buggy", "correct", "tests"):
            total += 1
            flagged += bool(findings_of("a.py", program[key].encode()))
    print(f"{total} texts, {flagged} flagged")


def speed(roots: Sequence[Path]) -> None:
    for root in roots:
        batch = [(str(path), content) for path, content in files(root)][:10]
        for count in {1, len(batch)}:
            times = []
            for _ in range(11):
                started = time.perf_counter()
                for name, content in batch[:count]:
                    findings_of(name, content)
                times.append(time.perf_counter() - started)
            print(f"{root!s:40} {count:3} files {statistics.median(times) * 1000:8.1f} ms")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["alarms", *roots] if roots:
            alarms([Path(root) for root in roots])
        case ["python", root]:
            python(Path(root))
        case ["quixbugs", file]:
            quixbugs(Path(file))
        case ["speed", *roots] if roots:
            speed([Path(root) for root in roots])
        case [root, *languages]:
            measure(Path(root), languages)
        case _:
            sys.exit(__doc__)
