"""Detects fake implementations: the function's name promises work, the body ignores its input.

The shape has to be sure: a front end hands in only functions that nothing else may call for, and what is rightly
constant says so by its name, its owner's name or its documentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMPUTES = """
validate verify check authenticate authorize calculate compute parse convert transform translate encrypt decrypt hash
sign analyze analyse predict classify detect estimate evaluate measure rank score recommend summarize summarise optimize
compress decompress encode decode sanitize escape extract infer solve generate diff find lookup search compile tokenize
validates verifies
"""
_ACTS = """
send charge pay refund fetch download query upload save store publish notify transfer withdraw deposit submit sync
backup restore deploy schedule book reserve scrape crawl retrieve persist email load
"""
_TRANSFORMS = """
merge dedupe deduplicate resize crop rotate scale compress decompress encrypt decrypt sort filter normalize normalise
sanitize sanitise escape convert transform translate refresh renew encode decode hash sign redact anonymize anonymise
group flatten shuffle minify optimize optimise compact rank reorder prioritize prioritise
"""
_MEASURES = """
similarity score distance probability confidence percentile median average mean variance tax discount fee price cost
total balance checksum digest embedding rating latency
"""
_WORKS = """
acquire add aggregate allow apply append archive cancel change clean close commit copy count create delete deliver
dispatch drop enqueue evict execute export find flush format generate import index insert invalidate lock look map
match measure migrate move notify parse push read rebuild release remove reserve reset resize resolve restore retry
revoke roll scan schedule send set shut split store sum sync track update verify write
"""
_COMPUTE, _ACT = frozenset(_COMPUTES.split()), frozenset(_ACTS.split())
_TRANSFORM, _MEASURE = frozenset(_TRANSFORMS.split()), frozenset(_MEASURES.split())
_WORK = _COMPUTE | _ACT | _TRANSFORM | frozenset(_WORKS.split())
_FETCH = frozenset({"fetch", "download", "query", "scrape", "crawl", "retrieve", "search"})
_ASKS = re.compile(
    r"^(?:allowed|permitted|authori[sz]ed|(?-i:may(?:_\w+|[A-Z]\w*)))$"
    r"|^(?:is|has|can)_?.*(?:valid|authenticated|authorized|authorised|allowed|permitted|permission|access|expired|"
    r"verified|trusted|spam|fraud\w*|available|unique|prime|palindrome)",
    re.IGNORECASE,
)
_CONSTANT_NAME = re.compile(
    r"default|always|never|nothing|no_?op|null|dummy|fake|mock|stub|sample|random|fallback|trivial|constant|empty|demo"
    r"|example|(?:allow|accept|deny)_?all|legacy|deprecated|unsupported|(?:^|_)any(?:_|$)|(?-i:Any(?:[A-Z]|$))",
    re.IGNORECASE,
)
_CONSTANT_OWNER = re.compile(
    r"^_*(?:Null|No[A-Z]|Always|Never|Allow|Deny|Any[A-Z]|Trivial|Default|Simple|Base|Abstract|I[A-Z][a-z])|no_?op|Nop|Stub"
    r"|Mock|Fake|Dummy|Test|Example|Demo|Mixin|Interface|Protocol|Handler$|Visitor$|Plugin$|Hook|Hooks$|Adapter$|Backend$"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NOTHING = re.compile(r"^(?:None|null|nil|undefined|void 0|\(\)|)$")
_NUMBER = re.compile(r"^[-+]?\d[\d._]*[fFdDlLm]?$|^(?:Big)?Decimal\b")
_CONSTRUCTED = re.compile(r"^(?:new )?(?!Decimal|BigDecimal|List|Set|Map|Optional|Ok)[A-Z]\w*\(")
_RETURNS = re.compile(r"^(?:returns?|gives?|tells?|calculates?|computes?)\b", re.IGNORECASE)
_MAY_DENY = re.compile(r"\bfalse`* (?:when|if|unless|once)\b", re.IGNORECASE)
_LOOKS_UP = frozenset({"find", "lookup", "search", "extract", "detect", "infer", "check", "validate", "verify"})
_SPEAKER = re.compile(r"Console|Print|Log|Debug|Echo|Report|Demo|Hello|Stdout|Terminal|Screen|Cli(?![a-z])|CLI|DryRun")
_BARE = re.compile(r"^(?:true|false|True|False|nil|Ok\((?:\(\)|true|false)\))$")


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters, result and output of a function without real work.

    `owner`: the class that it is a method of, by name. `given`: its parameters, without the receiver. `result`: what it
    returns, as text; one of `given` where it hands that back. `chance`: that is drawn at random. `talks`: it says
    something, or copies what it is given into its result. `printed`: the texts that it prints or logs. `doc`: its
    documentation.
    """

    name: str
    owner: str = ""
    given: tuple[str, ...] = ()
    result: str = ""
    chance: bool = False
    talks: bool = False
    printed: str = ""
    doc: str = ""

    @property
    def words(self) -> list[str]:
        """The words of the name."""
        return _words(self.name)


def pretends(shape: Shape) -> bool:
    """Whether a function without real work promises some by its name or documentation."""
    if _CONSTANT_NAME.search(shape.name) or _CONSTANT_OWNER.search(shape.owner) or not shape.words:
        return False
    if shape.result in shape.given:
        return _hands_back(shape)
    if _NOTHING.match(shape.result) and not shape.chance:
        return _only_says(shape) or _gives_nothing(shape)
    return _gives_constant(shape) or _breaks_promise(shape) or (_only_says(shape) and bool(_BARE.match(shape.result)))


def _gives_constant(shape: Shape) -> bool:
    """Whether a name alone promises more than a constant."""
    words = shape.words
    verb = words[0]
    bare = bool(_BARE.match(shape.result))
    if not shape.given:
        return verb in _FETCH and not bare and len(shape.result) > 4  # noqa: PLR2004 - more than an empty literal
    several = len(shape.given) > 1
    if verb in _COMPUTE or (_ASKS.match(shape.name) and bare and (several or not shape.owner)):
        return True
    if verb in _TRANSFORM:
        return not bare
    if verb in _ACT:
        return not shape.owner or shape.talks or not bare
    if words[-1] in _MEASURE and _NUMBER.match(shape.result):
        return several or (bool(shape.doc) and not shape.owner)
    return verb == "get" and len(words) > 1 and _is_data(shape.result)


def _breaks_promise(shape: Shape) -> bool:
    """Whether the documentation of a function that ignores its parameters speaks of work, or of another result."""
    copied = set(re.findall(r"\w+", shape.result)) & set(shape.given)
    if not shape.given or copied or _CONSTRUCTED.match(shape.result):
        return False
    if shape.result in {"True", "true"} and _MAY_DENY.search(shape.doc):
        return True
    if _tells_work(shape):
        return not (shape.owner and _BARE.match(shape.result)) or shape.talks or len(shape.given) > 1
    sentence = _sentence(shape)
    mentioned = {word for name in shape.given for word in _words(name) if len(word) > 2}  # noqa: PLR2004 - no articles
    return len(shape.given) > 1 and not shape.owner and bool(_RETURNS.match(sentence)) and (
        bool(mentioned & set(_words(sentence)))
    )  # fmt: skip


def _hands_back(shape: Shape) -> bool:
    """Whether a parameter is handed back as it came, where the name says that it becomes something else."""
    if shape.words[0] not in _TRANSFORM:
        return False
    return len(shape.given) > 1 or (not shape.owner and (len(shape.words) > 1 or _tells_work(shape)))


def _gives_nothing(shape: Shape) -> bool:
    """Whether a function that gives nothing back promises a result: what looks something up may find nothing."""
    verb = shape.words[0]
    if not shape.given or not shape.result:
        return False
    made = verb in (_COMPUTE | _TRANSFORM) - _LOOKS_UP or (verb in {"to", "map"} and len(shape.words) > 1)
    return made and (bool(shape.owner) or _tells_work(shape))


def _only_says(shape: Shape) -> bool:
    """Whether a function prints that it does what its name says, and that is all."""
    verb = shape.words[0]
    if verb not in _WORK or _SPEAKER.search(shape.owner) or not (shape.given or shape.doc):
        return False
    stem = verb.removesuffix("e")
    return len(stem) > 2 and any(each.startswith(stem) for each in _words(shape.printed))  # noqa: PLR2004 - `do`, `go`


def _tells_work(shape: Shape) -> bool:
    """Whether the documentation begins with a verb of work."""
    first = next(iter(_words(_sentence(shape))), "")
    return bool({first, first.removesuffix("s"), first.removesuffix("es")} & _WORK)


def _sentence(shape: Shape) -> str:
    """The first sentence of the documentation, without the name with which Go's begins."""
    sentence = re.split(r"[.:]\s|\n\s*\n|\.$", shape.doc.strip(), maxsplit=1)[0]
    return sentence.removeprefix(shape.name).strip()


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORDS.findall(text)]


def _is_data(result: str) -> bool:
    """Whether a result is a record made up: an object or a list with something in it."""
    return bool(re.match(r"^[\[{(]", result)) and bool(re.search(r"[\"'`]|\d", result)) and ":" in result
