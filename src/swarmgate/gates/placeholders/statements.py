"""Classifies a statement of a C-like language by its text: what it does in a short function body.

The syntax tree has already told where a statement begins and ends and what is a comment.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.placeholders import wording
from swarmgate.gates.placeholders.function_bodies import Step

if TYPE_CHECKING:
    from collections.abc import Iterable

_STRING = re.compile(
    r"[@$rbuL]{0,2}(?:\"\"\"(?P<a>.*?)\"\"\"|\"(?P<b>(?:\\.|[^\"\\])*)\"|'(?P<c>(?:\\.|[^'\\])*)'"
    r"|`(?P<d>(?:\\.|[^`\\])*)`)"
    r"|%[qQ]?\{(?P<e>[^}]*)\}|\[\[(?P<f>.*?)\]\]"
)
_TODO_CALL = re.compile(
    r"^(?:return |await )*(?:(?:core::|std::)?(?:todo|unimplemented)!\s*[(\[{]|TODO\s*\(|\?\?\?|NotImplementedError\b)"
    r"|^\.\.\.;?$"
)
_NOT_IMPLEMENTED_TYPE = re.compile(
    r"^(?:return |await )*(?:throw|raise|panic|fail|Promise\.reject|reject|die|error|Err|abort"
    r"|Future\.error|Task\.FromException)\b"
    r".{0,80}?\b(?:Not_?Implemented|Not_?Yet_?Implemented|Unimplemented)(?:Error|Exception|Err)?\b",
    re.IGNORECASE,
)
_REFUSING = re.compile(
    r"^(?:return |await |try! ?)*(?:throw\b|raise\b|panic!?\s*\(|fatalError\(|preconditionFailure\("
    r"|assertionFailure\(|error\s*[(\"']"
    r"|die\b|exit\b|abort\b|log\.(?:Fatal|Panic)\w*\(|assert\w*!?\s*[(\"]|Debug\.(?:Assert|Fail)\("
    r"|trigger_error\(|unreachable!?\s*\("
    r"|fail\w*\s*[(\"]|croak|Err\(|(?:\w+, ?)*(?:fmt\.Errorf|errors\.New|errors\.Errorf|status\.Errorf?)\("
    r"|Promise\.reject\(|reject\(|Future\.error\(|sys\.error\(|bail!\(|anyhow!\("
    r"|Result\.(?:failure|err)\w*\(|std::abort|__builtin_|crash\b)",
    re.IGNORECASE,
)
_TALKING = re.compile(
    r"^(?:await |return |_ ?= ?|\(void\) ?)*(?:(?:window\.)?console\.\w+\(|System\.(?:out|err)\.print\w*\("
    r"|(?:std::)?(?:cout|cerr|clog) ?<<"
    r"|(?:e?print(?:ln|f|f_s)?|fprintf|sprintf|puts|fputs|perror|p|pp|echo|var_dump|error_log"
    r"|NSLog|os_log|alert|debugPrint|warn|notice|printk?|say|io\.write|io\.stderr:write)!?(?:[\s(\"']"
    r"|$)"
    r"|(?:\w+\.)?(?:log|logger|LOG|LOGGER|_log|_logger|Log|Logger|logging|slog|tracing|fmt|Console"
    r"|Debug|Trace|Rails\.logger|self\.logger|this\.logger|Timber)(?:\.|::)\w+!?\s*[(\"' ]"
    r"|(?:log|debug|info|warn|error|trace)!\s*\("
    r"|(?:res|response|resp|w|ctx|c|http|reply|\$this->\w+)(?:\.|->)\w+\(.*(?:501|NotImplemented|implemented)"
    r"|(?:\w+\.)*(?:sleep|Sleep|delay|setTimeout)\()"
)
_WAITING = re.compile(r"^await new Promise\(.{0,40}\bsetTimeout\(\s*\w+,\s*\d+\s*\)\s*;?\s*\}?\);?$")
_NOTHING = re.compile(
    r"^(?:pass|;|:|true|noop\(\)|return|\{\}|_ ?= ?[\w.]+(?: ?, ?[\w.]+)*|let _ ?= ?[\w.(), &]+"
    r"|\(void\) ?\w+|void \w+|UNUSED\w*\([\w, ]*\)"
    r"|Q_UNUSED\(\w+\)|use strict|\"use strict\"|'use strict'|drop\(\w+\)|local _ ?= ?\w+|shift|local \w+=\S+)\s*;?$"
)
_ALLOWED = re.compile(
    r"\b(?:null|nil|None|none|undefined|true|false|True|False|nullptr|NULL|NaN|new|int|float"
    r"|double|long|string|str|bool|list|dict|set|tuple|byte"
    r"|array|Array|make|map|chan|error|default|empty\w*|of|resolve|from|to_string|to_owned|into"
    r"|vec!?|std|vector|optional|nullopt|const|async|void"
    r"|mutableListOf|listOf|mapOf|setOf|emptyList|emptyMap|asList|completedFuture|just|success"
    r"|ok|static|as|any|interface|struct|unsigned|char|size_t"
    r"|return|self::\w+|[A-Z]\w*)\b"
)
_NUMBER = re.compile(r"\b\d[\w.]*")
_REMAINS = re.compile(r"[\s\[\](){},.:;+\-<>&*?!=|'\"@$^%]*")
_RETURN = re.compile(r"^return\b\s*")
_ASSIGN = re.compile(
    r"^(?:const|let|var|val|auto|local|my|final|mut|int|bool|double|float|String|string|let mut"
    r"|static|[A-Z][\w<>, \[\]?]*|\w+\*?)?\s*\$?(\w+)"
    r"(?:\s*:\s*[^=]{1,60})?\s*:?=\s*(.+?);?$"
)
_ECHO = re.compile(r"^return\s+(?:&|\*|\$)?(\w+)(?:, ?(?:nil|null|None))?\s*;?$")
_LONG = 1500


def steps_of(statements: Iterable[str]) -> tuple[Step, ...] | None:
    """The steps of a body; None as soon as one of them does real work."""
    made: set[str] = set()
    steps = []
    for statement in statements:
        step = _step(statement, made)
        if step is Step.REAL:
            return None
        steps.append(step)
    return tuple(steps)


def _step(statement: str, made: set[str]) -> Step:
    if len(statement) > _LONG:
        return Step.REAL
    if _says_so(statement):
        return Step.SAYS_SO
    if _NOTHING.match(statement):
        return Step.CANNED if statement.startswith(("return", "true")) else Step.NOTHING
    if (_TALKING.match(statement) and "=>" not in statement) or _WAITING.match(statement):
        return Step.TALKS
    echo = _ECHO.match(statement)
    if echo and not _literal(echo[1]):
        return Step.CANNED if echo[1] in made else Step.ECHOES
    if _literal(_RETURN.sub("", statement)):
        return Step.CANNED
    assigned = _ASSIGN.match(statement)
    if assigned and not statement.startswith("return") and _literal(assigned[2]):
        made.add(assigned[1])
        return Step.CANNED
    return Step.CANNED if statement in made else Step.REAL


def _says_so(statement: str) -> bool:
    if _TODO_CALL.match(statement):
        return True
    typed = _NOT_IMPLEMENTED_TYPE.match(statement)
    messages = [next(filter(None, found.groups()), "") for found in _STRING.finditer(statement)]
    if typed:
        return not any(map(wording.by_design, messages))
    if not any(map(wording.not_implemented, messages)):
        return False
    return bool(_REFUSING.match(statement) or _TALKING.match(statement))


def _literal(text: str) -> bool:
    """Whether an expression is made of constants, and of constructors of constants."""
    bare = _STRING.sub("''", text)
    if re.search(r"\b[A-Z]\w*\.[A-Z]\w*(?:<[^>]*>)?\(", bare) and not re.search(r"\.(?:FromResult|Empty)\b", bare):
        return False
    if re.search(
        r"=>|->|\bthis\b|\bself\b(?!::)|[\w\])]\s*[+*/%]\s*[A-Za-z_]|\b[a-z]\w*[.(](?!\.)(?<!\bmake\()(?<!Of\()",
        _known(bare),
    ):
        return False
    without_keys = re.sub(r"[{,(\[]\s*[\w'-]+\s*(?::(?!:)|=>|=(?!=))", "{", bare)
    return bool(_REMAINS.fullmatch(_ALLOWED.sub("", _NUMBER.sub("", without_keys))))


def _known(text: str) -> str:
    return (
        _ALLOWED.sub("K", re.sub(r"(?<=[\[,({])\s*(?:'')?\s*=>", " ", text)).replace("K::K", "K").replace("''.", "K.")
    )
