"""The text patterns of unfinished work: TODO markers, elided code, stub wording, reasons of empty bodies."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_WORD = r"(?:TODO|FIXME|XXX|HACK|TBD)"


class Phrases:
    """A pattern that is compiled when it is first asked: they take 30 ms together, and most files ask few of them."""

    def __init__(self, *patterns: str, sentences: bool) -> None:
        self._patterns = patterns
        self._sentences = sentences

    @functools.cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """See `re.Pattern.search`."""
        return _compiled(self._patterns, sentences=self._sentences).search

    @functools.cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """See `re.Pattern.match`."""
        return _compiled(self._patterns, sentences=self._sentences).match


def _phrases(*patterns: str, sentences: bool = False) -> Phrases:
    """One pattern of many, blanks standing for any white space (comments wrap), apostrophes of both kinds.

    With `sentences`, `^` and `$` are the ends of a sentence and not those of a line.
    """
    return Phrases(*patterns, sentences=sentences)


def _compiled(patterns: tuple[str, ...], *, sentences: bool) -> re.Pattern[str]:
    joined = "|".join(patterns).replace(" ?", r"\s*").replace(" ", r"\s+").replace("'", "['\u2019]")
    if sentences:
        joined = joined.replace("[^", "\0").replace("^", r"(?:\A\W*|(?<=[.!?:]\s)|(?<=\s-\s))").replace("\0", "[^")
        joined = joined.replace("$", r"(?=[.!?)](?:\s|\Z)|\Z)")
    return re.compile(joined, re.IGNORECASE | re.MULTILINE)


# A marker opens a remark or a sentence, or is addressed ("TODO:", "TODO(ann)"); in a list or in quotes it is talk.
MARKER = re.compile(
    rf"(?:^[\s*@\-\[(:]*|[.;!?(]\s+|\()({_WORD})"
    r"(?![\w\-/,'\"`=]|\s*,\s*[A-Z]{3,5}\b|\s+(?:lists?|apps?|items?|comments?|markers?|tags?|MVC)\b|\.\w)"
    rf"|(?<![\w\-/'\"`])({_WORD})(?::(?!:)|\([\w .@#/:-]+\)|\s*$)"
    r"|^\s*@?((?i:todo|fixme)):(?!:)|^\s*@(todo|fixme)\b|^\s*\.\. (todo)::"
)
REFERENCE = re.compile(
    r"#\d+|https?://\S+|\w/(?:issues|pull|merge_requests|browse)/\w*-?\d+|\b[A-Z][A-Z0-9]+-\d+\b"
    r"|\b(?:issue|bug|ticket|b/) ?\d+",
    re.IGNORECASE,
)

_PARTS = (
    r"(?:code|methods?|functions?|implementations?|logic|imports?|fields?|tests?|class(?:es)?"
    r"|props|properties|handlers?"
    r"|routes?|endpoints?|definitions?|styles|rules|content|contents|components?|file|body|statements?|cases|helpers?"
    r"|markup|jsx|setup|configuration|config|module|script|parameters?|attributes?)"
)
_REST = (
    r"(?:the )?(?:rest|remainder) of (?:the |this |your |my |our )?(?:original |existing |previous |current )?"
    rf"(?:\w+ )?{_PARTS}\b"
)
_SAME = r"(?:\(?unchanged|the same|same as|as before|as is|as-is|untouched|intact|omitted|not shown|elided|continues)"
_KEPT = r"(?:existing|previous|original|remaining|other|rest of(?: the)?|current)"
ELIDED = _phrases(
    rf"\b{_REST}(?: (?:is|are|stays?|remains?|goes|will|be|kept|left))* ?(?:{_SAME}\b|here\b|\.\.\.|…)",
    rf"(?:^|(?:\.\.\.|…) ?){_REST}\W*$",
    rf"(?:^|(?:\.\.\.|…)\s*)(?:all |the |your |any )*{_KEPT} (?:\w+ )?{_PARTS}"
    rf" ?(?:(?:goes |go |stays? |remains? )?here\W*$|(?:(?:is |are |remains? |stays? )?{_SAME})\W*$|\.\.\.|…)",
    r"^existing code\W*$",
    r"^(?:\.\.\.|…)\s*\(?(?:existing|rest|remaining|previous|same|implementation|unchanged|omitted|snip|keep)\b",
    rf"^(?:\.\.\.|…)\s*\(?(?:more|other|additional|similar|further)\b[\w ]{{0,30}}{_PARTS}\W*$",
    rf"^\W*keep (?:all |the |your |everything )*(?:other |existing |remaining |rest )(?:of )?[\w ]{{0,30}}?(?:{_PARTS}"
    rf"|{_SAME})\W*$",
    r"^(?:[(\[]|\.\.\.|…)\s*(?:(?:same|unchanged|as) (?:as )?(?:before|above|previously|in the original)"
    r"|unchanged|no changes?(?: here| needed)?|snip(?:ped)?|truncated)[)\].…]*$",
    r"\b(?:code|implementations?|methods?|functions?|logic|imports|body|tests) (?:is |are |was "
    r"|were )?(?:omitted|elided|left out|truncated|abbreviated|not shown)"
    r"(?: here)?(?:\W*$| for (?:brevity|clarity|space|now|the sake))",
    r"\b(?:omitted|truncated|abbreviated|shortened|elided) for (?:brevity|clarity|space)\b",
)  # fmt: skip
SAME_ALONE = _phrases(
    r"^\W*(?:same|unchanged|as) (?:as )?(?:before|previously|in the original)\W*$",
    r"^\W*(?:unchanged|no changes?(?: here| below| needed)?|snip(?:ped)?|truncated)\W*$",
)
DOTS = re.compile(r"^[(\[{]?(?:\.{3,}|…)[)\]}]?$")

_REAL = r"(?:real|actual|true|production|prod|proper|full|complete|live|real[- ]world|production[- ](?:ready|grade))"
_THING = (
    r"(?:implementations?|app|apps|application|applications|system|systems|scenario|world|code|codebase|version"
    r"|environment|deployment|setting|setup|project|service|product|use case|library|solution|integration|backend)"
)
_FAKE = (
    r"(?:placeholder|stub(?:bed)?|dummy|mock(?:ed)?|fake|skeleton|bare-?bones|hard-?coded|canned|no-?op placeholder)"
)
_RESULT = (
    r"(?:implementations?|functions?|methods?|logic|code|data|values?|results?|responses?|returns?"
    r"|output|versions?|bod(?:y|ies)"
    r"|objects?|calculation|content|text|numbers?|entry|entries|list|payload|class|check|handler|answers?)"
)
_NEXT = r"(?:follow-?up|(?:later|second|next) (?:step|change|pr|release|version|commit|ticket|story|sprint|milestone))"
STUB_WORDING = _phrases(
    rf"\bin an? (?:{_REAL}[ -])+(?:\w+ )?{_THING}\b.{{0,60}}?\b(?:would|should|will|you|we|could"
    rf"|might|this|must|need)\b",
    rf"\b(?:would|should|could|will)(?: \S+){{0,12}} in an? (?:{_REAL}[ -])+(?:\w+ )?{_THING}\b",
    r"\bin (?:production|real life|the real world),? (?:you|we|this|it|one|these|that)(?:'d| would| should| will)\b",
    rf"\b(?:an?|the) (?:{_REAL}) (?:\w+ )?implementation (?:would|should|will|could|might|goes|needs?|must|here)\b",
    rf"\b(?:replace|swap|substitute)\b.{{0,30}} with (?:an? |the |your )?(?:own )?(?:{_REAL}) (?:\w+ )?(?:implement"
    rf"ation|logic|code|data|calls?|api|query|service|backend|integration)\b",
    r"\bfor now,? (?:we |we'll |i |i'll |it |this |let's |just |simply |only |always )*"
    r"(?:returns?|returning|pretends?|fakes?|mocks?|stubs?|hard-?codes?|hard-?coded|does nothing"
    r"|do nothing|assumes? success|simulates?|a placeholder|dummy|use (?:a |some )?(?:mock|dummy"
    r"|fake|placeholder))\b",
    r"\b(?:hard-?coded|hard-?coding|stubbed|stub|mocked|mock|placeholder|dummy|faked?|simulated"
    r"|simplified|no-?op|empty|nothing|returns? (?:\S+ ){0,3}) for now\b",
    r"\b(?:just|simply|only) returns? (?:\S+ ){1,5}for now\b|\btemporarily (?:returns?|returning"
    r"|hard-?coded|stubbed|mocked)\b|\btemporary (?:stub|implementation|hard-?coded)\b",
    rf"\b(?!skeleton){_FAKE} implementation\b(?! (?:for|in|of|used (?:for|in|by)) (?:the )?(?:\w+ )?tests)",
    r"\b(?:this|it)(?:'s| is)(?: \w+ )? ?(?:just |only |currently |merely |still |simply )*an? (?:\w+ )?(?:stub"
    r"|placeholder|skeleton)"
    r"(?:\W*$|,? (?:for now|until|and|that will|to be|implementation|function|method))",
    r"^(?:just |only )?an? (?:stub|placeholder)\W*$",
    rf"\bplaceholder (?:for|until) (?:the |an? |your )?(?:{_REAL}|future|eventual|forthcoming)\b"
    rf"|\bplaceholder (?:function|method|logic|code)\b",
    rf"^(?:returns? |returning |using |use )(?:an? |some |the )?{_FAKE} (?:\w+ )?{_RESULT}\W*$",
    r"\bstub(?:bed)? out (?:for now|until|later)\b|\bstub (?:function|method|logic)\W*$",
    r"\bthis is (?:just |only |merely |currently )?an? (?:very |highly |overly |greatly )?(?:simplified"
    r"|simplistic|naive|minimal|basic|rudimentary|toy|dumbed[- ]down|mock) (?:\w+ )?"
    r"(?:implementation|version|example|approach)\b(?=.{0,80}\b(?:real|production|actual|should"
    r"|would|for now|later|demo\w*|replace)\b|\W*$)",
    r"\bsimplified (?:version|implementation|logic|for now|here)\W*$|\bsimplified for (?:now"
    r"|demo\w*|the demo|this example|brevity)\b",
    r"^(?:(?!that|which|when|if|while|but|are|as)\w+ ){0,3}(?:is |are )?(?:not|isn't|hasn't|has not"
    r"|aren't)(?: yet)?(?: been)? implemented(?: yet)?[.!…]*$",
    r"\b(?:not|isn't|hasn't|has not|aren't) yet(?: been)? (?:implemented|written|wired up|hooked up)\W*$"
    r"|\bnot(?: been)? implemented yet\b",
    r"\b(?:to be|will be|should be|needs? to be|must be|has to be|gets|is yet to be|remains to be|left to be)"
    r" (?:properly |fully |actually )?(?:implemented|fleshed out|wired up|hooked up|coded)"
    r" (?:later|soon|eventually|in (?:the|a) (?:future|next|later|follow)|afterwards|next|in phase|when (?:we|the) )",
    r"\b(?:implement|fill|finish|complete|write)(?: out)? (?:this|me|it|that|the rest)(?: in)? (?:later"
    r"|properly|soon|at some point|eventually)\b|^implement (?:this|me|it|that) here\W*$|^to be (?:implemented"
    r"|completed|written|filled in|done)(?: later| soon)?\W*$|^(?:please )?implement (?:me|this"
    r"|it)\W*$",
    r"\b(?:code|logic|implementation|validation|handling) (?:goes|go|pending|to follow|coming soon"
    r"|tbd|needed here|will go|should go|comes) ?(?:here|later|soon)?\W*$",
    r"\b(?:the )?(?:your |my |actual |real |custom |own |business |main |core )+(?:\w+ )?(?:code"
    r"|logic|implementation) (?:(?:goes|would go|should go|to go|will go)\b|here\W*$)",
    r"\b(?:add|insert|put|place|write|paste|implement) (?:your |the |actual |real |more |some "
    r"|any |custom |own )*(?:\w+ ){0,3}(?:code|logic|implementation|functionality|handling|validation"
    r"|processing|body) (?:here|below|as needed|later|in here)\b",
    r"^implement (?:the |your |actual |real |an? )*(?:\w+ ){0,3}(?:logic|code|functionality|body"
    r"|method|function|algorithm)(?: here| below| later)?\W*$",
    r"^(?:coming soon|work in progress|wip|under construction|left as an exercise\b.*)\W*$|^WIP:",
    r"\b(?:currently|still|only) (?:stubbed|mocked|faked)(?: out)?\W*$",
    r"\bhard-?(?:wired|coded) until\b|\b(?:is|are|was|were) (?:left )?for another day\b",
    rf"\b(?:comes?|coming|follows?|arrives?|lands?) in an? {_NEXT}\b"
    rf"|\b(?:left|kept|saved|deferred|postponed) (?:for|to|until) an? {_NEXT}\b",
    sentences=True,
)  # fmt: skip
# Looked for first, because a substring costs a thousandth of the pattern.
MARKERS = ("TODO", "FIXME", "XXX", "HACK", "TBD", "odo", "ixme")
ELIDED_WORDS = (
    "rest of", "remainder", "existing", "previous", "original", "remaining", "other", "current", "...", "…", "omitted",
    "elided", "left out", "truncated", "abbreviated", "shortened", "not shown", "keep", "(same", "(unchanged", "(as ",
    "unchanged", "(no ", "(snip",
)  # fmt: skip
STUB_WORDS = (
    "implement", " real", "actual", "production", "for now", "for\nnow", "placeholder", "place-holder", "stub", "dummy",
    "mock", "fake", "simplif", "simplistic", "naive", "hard-cod", "hardcod", "temporar", " here", "later", "pending",
    "goes", "soon", "in progress", "wip", "under construction", "exercise", "wired", "hooked", "in practice", "tbd",
    "canned", "skeleton", "to be ", "real-world", "in reality", "hardwired", "hard-wired", "follow", "another day",
)  # fmt: skip

# By fields of meaning: pretence, time, what is missing, what is to come, quality, replacement, demonstration.
HINTS = _phrases(
    r"\buntil\b|\bgood enough\b|\b(?:for|to) another (?:day|time)\b|\bhard-?wired\b|\bwe trust\b|\bonce (?:we|i|you)\b"
    r"|\bwhen (?:we|time|there is time|i) \w+|\b(?:a |the )?(?:second|third|later) (?:step|stage|cut|round)\b",
    r"\bplace-?holders?\b|\bstub(?:s|bed)?\b|\bdummy\b|\bmock(?:s|ed|ing|up)?\b|\bfak(?:e[ds]?"
    r"|ing)\b|\bhard[- ]?cod\w+|\bcanned\b|\bstand-?in\b",
    r"\bsimulat\w+|\bpretend\w*|\bbogus\b|\bmade-?up\b|\binvented\b|\barbitrary\b|\bfictional\b"
    r"|\bartificial\b|\bassum(?:e|es|ing) (?:it (?:works|is)|success|every\w+|all is|valid|ok)\b"
    r"|\balways (?:succeeds?|fails?|passes|valid|true|ok|returns?)\b.{0,20}\b(?:now|moment|until"
    r"|yet|currently)\b",
    r"\bfor now\b|\bright now\b|\bfor the (?:moment|time being)\b|\bat (?:the moment|present"
    r"|this (?:point|stage|time))\b|\btemporar(?:y|ily)\b|\bprovisional\w*|\binterim\b|\bcurrently\b"
    r"|\bso far\b|\binitially\b",
    r"\bat (?:some|a later) (?:point|stage|date)\b|\bsome ?day\b|\beventually\b|\blater\b|\bsoon\b"
    r"|\bnot(?: \w+)? yet\b|\byet to\b|\bnext (?:step|phase|iteration|sprint|pr|version|release"
    r"|milestone|change|ticket|story)\b"
    r"|\bfollow-?up\b|\bfuture\b",
    r"\buntil (?:the |we |it |that |this |a |an |there |i )?.{0,40}\b(?:exists?|ready|done|there"
    r"|available|implemented|works?|finished|written|lands?|built|final|up|supports?|have|has"
    r"|is|are)\b|\bonce (?:the |we |it |that |this |a |an |there ).{0,40}\b(?:is|are|exists?"
    r"|ready|done|available|final|have|has|lands?)\b|\bwhen (?:the |we ).{0,30}\b(?:ready|available"
    r"|implemented)\b",
    r"\bsimplif(?:ied|ication)\b|\bsimplistic\b|\bskeleton\b|\bscaffold\w*|\bboiler-?plate\b"
    r"|\bprototype\b|\bproof of concept\b|\bpoc\b|\bmvp\b|\bdraft\b|\bspike\b|\bfirst (?:cut"
    r"|version|pass|draft|step)\b|\bminimal (?:version|implementation|body|code)\b|\bbare[- ]?(?:bones"
    r"|minimum)\b|\brudimentary\b|\bcrude\b|\brough\b|\bquick(?: and |-and-|&| & |/)dirty\b|\bhack(?:y"
    r"|ish)?\b|\bnaive\b|\btoy\b|\bno-?op for\b",
    r"\bunimplemented\b|\bnot(?: \w+)? implemented\b|\bn't(?: \w+)? implemented\b|\bimplement(?:ation"
    r"|ed|ing|s)?\b|\bunfinished\b|\bincomplete\b|\bpartial\b|\b(?:not|n't)(?: \w+)? (?:done"
    r"|ready|finished|complete|built|written|wired|working|real|supported yet)\b|\bmissing\b"
    r"|\bleft (?:blank|empty|out|open|for|as|to|unimplemented)\b|\bnothing real\b|\bno real\b"
    r"|\bblank for\b",
    r"\bto-?do\b|\bfix-?me\b|\bxxx\b|\btbd\b|\bwip\b|\bwork in progress\b|\bpending\b|\bcoming\b"
    r"|\bfill(?:ed|ing)?(?: \w+)? (?:in|out)\b|\bflesh\w* out\b|\b(?:to be|be) (?:done|finished"
    r"|completed|written|filled|added|replaced|decided|defined|determined)\b|\bcomplete (?:this"
    r"|me|it)\b|\bfinish (?:this|me|it)\b|\bwrite (?:this|me)\b",
    r"\breal (?:\w+ )?(?:logic|code|thing|one|data|version|call|work|values?|results?|api|query"
    r"|queries|checks?|validation|service|backend|handler|body|response|answer|calculation|implementation)\b"
    r"|\bactual (?:\w+ )?(?:logic|code|data|version|call|work|values?|results?|api|query|checks?"
    r"|computation|calculation|validation|service|backend|body|response|implementation)\b|\bproper (?:\w+ )?(?:log"
    r"ic|code|handling|validation|checks?|implementation|version|solution|one|error handling"
    r"|query)\b",
    r"\bin production\b|\bproduction\b|\b(?:replace|swap|substitute|change) (?:this|me|with|it"
    r"|by|these|out)\b|\breplaced? (?:by|with|once|when|later)\b|\b(?:wire|hook|connect|plug"
    r"|link)(?:ed|s)?(?: \w+){0,2} (?:up|in|into|to)\b|\bneeds? (?:to be|real|actual|proper|work"
    r"|an? )\b|\b(?:should|must|ought to|has to|have to) (?:be |actually |really |probably |eventually )*(?:call"
    r"|query|compute|calculate|fetch|load|read|look|use|ask|check|validate|talk|go|hit|send|parse"
    r"|come|return|do|replaced?|computed|calculated|fetched|loaded|done|derived|read|validated"
    r"|checked|queried)\b",
    r"\bwould (?:normally|typically|usually|actually|really|be|go|call|query|fetch|need|do|look"
    r"|happen|then|parse|come|use|have)\b|\b(?:normally|typically|ideally),? (?:this|we|you|it)\b",
    r"\b(?:sample|test|demo|example|bogus|arbitrary|default|random|static|fixed) (?:\w+ )?(?:data"
    r"|values?|results?|response|output|return|return value|numbers?|payload|answer|list|content)\b"
    r"|\bdemo\b|\bdemonstration\b|\billustrat\w+|\b(?:for|just) (?:testing|test purposes|show)\b",
    r"\b(?:logic|code|body|implementation) (?:here|goes|comes|follows)\b|\bgoes here\b|\byour (?:\w+ )?(?:code"
    r"|logic|implementation)\b|\bout of scope\b|\bexercise\b|\b(?:suppress|silence|appease|satisf(?:y"
    r"|ies)|please|keep)\w* (?:the )?(?:linter|compiler|type checker|tests?|ci|error|mypy|happy"
    r"|callers)\b|\bmake(?:s)? (?:it|the \w+|this|them) (?:compile|pass|happy|build|green)\b"
    r"|\bso (?:that )?(?:the |all )?(?:callers?|tests?|code|build|it|things|others?) (?:work"
    r"|works|pass|passes|compiles?|builds?|keeps?|can|doesn't|do not|don't)\b|\bjust (?:return"
    r"|enough|so|to get)\b|\bsomething (?:sensible|plausible|reasonable|better)\b|\bto (?:get"
    r"|keep) (?:it|this|things) (?:going|running|compiling|building)\b",
)  # fmt: skip
POSTPONED = _phrases(
    r"\bgood enough\b|\bso (?:that )?(?:it|this|the \w+) (?:compiles?|builds?|type-?checks)\b"
    r"|\bfor another (?:day|time)\b|\bskip(?:s|ped|ping)? (?:the |all )?(?:actual|real|proper)\b",
    r"\bfor (?:simplicity|brevity|the sake of|(?:the|this) demo|convenience)\b"
    r"|\bto keep (?:it|this|things) (?:simple|short)\b",
    r"\bassum(?:e|es|ed|ing)\b.{0,40}\b(?:valid|correct|ok|okay|fine|success\w*|true|trusted|authori[sz]ed|available)\b",
    r"\b(?:skip|omit|bypass)(?:ped|ping|ted|ting|s)?\b.{0,40}\b(?:check|validation|verification|logic|for now|here)\b",
)  # fmt: skip
DOC_HINTS = _phrases(
    r"\buntil\b|\bgood enough\b|\b(?:for|to) another (?:day|time)\b|\bhard-?wired\b|\bwe trust\b|\bonce (?:we|i|you)\b"
    r"|\bwhen (?:we|time|there is time|i) \w+|\b(?:a |the )?(?:second|third|later) (?:step|stage|cut|round)\b",
    r"\b(?:this|it)(?:'s| is)(?: \w+)? an? (?:\w+ )?(?:placeholder|stub|dummy|mock|skeleton)\b",
    rf"^\W*(?:placeholder|stub(?:bed)?|dummy|mock|fake)\b|\b{_FAKE} {_RESULT}\b|\bhard-?coded\b"
    rf"|\bsimplified (?:version|implementation)\b",
    r"\b(?:placeholder|stub|mock|dummy)\W*$|\([\w ]*(?:placeholder|stub|mock|dummy|not implemented|wip)[\w ]*\)",
    r"\bfor now\b|\bunimplemented\b|\bnot(?: \w+)? implemented\b|\bto be implemented\b|\bin production\b"
    r"|\bcoming soon\b|\bwork in progress\b|\bimplement (?:me|this|later)\b",
)  # fmt: skip

NOT_IMPLEMENTED = _phrases(
    r"\bnot(?:[ _-]yet)?(?:[ _-]been)?[ _-]?(?:yet[ _-])?implemented\b|n't(?: yet)?(?: been)? implemented"
    r"|\bunimplemented\b|\bnot_?implemented\b",
    r"\bTO-?DO\b|\bFIXME\b|\bTBD\b|\bimplement (?:me|this|it)\b|\bto be (?:implemented|done|written"
    r"|completed)\b|\b(?:yet|still) to (?:be|come)\b|\bneeds? (?:to be implement\w+|implement\w+)",
    r"(?:\bnot|n't) (?:yet )?(?:been )?(?:done|written|finished|built|coded|wired up|hooked up)\b"
    r"|\bnot (?:yet )?(?:ready|available)(?: yet)\b"
    r"|\bnot yet \w+|\bcoming soon\b|\bunder construction\b|\bwork in progress\b|\bWIP\b",
    r"\b(?:stub(?:bed)?|placeholder)\b|\b(?:no|pending|missing|awaiting) implementation\b|\bimplementation (?:pend"
    r"ing|missing|needed|required|goes here|to follow)\b|\bimplement(?:ation|ed)? later\b|\bunfinished\b"
    r"|\bincomplete\b|^later\W*$|^not done\W*$",
    r"\b(?:somebody|someone|we|you|this) (?:still )?(?:has|have|needs?|must) (?:to )?(?:be )?"
    r"(?:writ|implement|buil|cod)\w+"
    r"|\b(?:will|to|shall) follow\W*$|\bnobody (?:has )?(?:wrote|written|built|implemented)\b"
    r"|\bnot (?:\w+ )?(?:supported|available|implemented|offered)"
    r" (?:yet|so far|(?:at|in) this (?:stage|phase|point))\b",
)  # fmt: skip
SO_FAR = _phrases(r"\byet\b|\b(?:at|in) this (?:stage|phase|point|early)\b|\bso far\b|\bfor now\b|\bat the moment\b")
BY_DESIGN = _phrases(
    r"\bsub-?class|\boverrid|\boverrod|\babstract\b|\bderived class|\bchild class|\bunsupported\b"
    r"|\bnot (?:\w+ )?(?:support|available|allowed|possible|applicable|permitted)|\bdoes(?:n't"
    r"| not) support|\bcannot\b|\bcan't\b"
    r"|\b(?:on|under) (?:this |your )?(?:platform|windows|linux|mac\w*|posix|unix|python|os\b"
    r"|operating)|\binstead\b|\bdeprecated\b|\bremoved\b|\bno longer\b|\bbase class\b|\bimplement(?:ed"
    r"|ing)? (?:by|in) (?:the |a |each |your |its |concrete )*(?:sub|child|deriv|concrete|back-?end"
    r"|class|driver|plug-?in|implementation)|\bmust (?:be )?(?:implement|define|provide)|\brequired? to (?:impleme"
    r"nt|define|provide)|\b(?:should|needs?|has|have) (?:to )?(?:be )?(?:implement|define|provide)\w*\b.{0,30}\b(?"
    r":class|by)|\bmixin\b|init\(coder",
)  # fmt: skip
INTENDED = _phrases(
    r"\bno-?op\b|\b(?:does|do|doing|did|just) nothing\b|\bnothing (?:to|is|needs|happens|here"
    r"|special)\b|\bintentional|\bdeliberate",
    r"\bon purpose\b|\bignor(?:e|ed|es|ing)\b|\bsilen(?:t|ce)|\bhook\b|\bby design\b|\bcallback\b"
    r"|\bplaceholder for (?:sub|over)",
    r"\bnot (?:needed|necessary|supported|required|used|applicable|interested|relevant)\b|\b(?:no"
    r"|not|un)[ -]?need|n't (?:need|have to|want to|use|matter|support)\b",
    r"\bsub-?class|\boverrid|\babstract\b|\bunused\b|\bno (?:action|effect|need|op|implementation needed)\b"
    r"|\bempty\b|\bunsupported\b|\bderived class|\bsuppress|\bdisabled?\b|\bcompatib|\bnop\b"
    r"|\bskip|\balready\b|\bcan be extended\b|\bextension point\b|\binterface\b|\bprotocol\b"
    r"|\bdeprecated\b|\bno longer\b",
)  # fmt: skip
INTENDED_DOC = _phrases(
    r"\bno-?op\b|\b(?:does|do|doing) (?:\w+ )?nothing\b|\bnothing (?:to do|happens)\b|\bintentionally"
    r"|\bdeliberately|\bnoop\b|\bnothing\.?$",
    r"\braises?:? [`:\w]*NotImplemented|\bshould (?:not|never) be called|\bsub-?class(?:es)? (?:\w+ )?(?:should"
    r"|must|may|can|need|will|to|has|have|that)|\b(?:by|in|for) (?:(?:the|a|any|your|its|all"
    r"|derived|concrete) )*sub-?class|\boverrid(?:e|es|den|able|ing) (?:this|it|in|me|by|to|if"
    r"|the|for|these|when|with|and)\b|\b(?:to|be|may|can|should|must|for|meant to be|please|is) overr?idd?en?\b"
    r"|^\W*overrid(?:e|able)|\babstract (?:method|property|base|class|function|interface)\b|^\W*abstract\b"
    r"|\bsubclasses\b",
    r"\b(?:is|as|a|this|an|empty|default|extension|override|lifecycle|life-?cycle) hook\b|^\W*hook (?:for"
    r"|to|that|called|method|point)|\bdefault (?:implementation|behaviou?r|version) (?:does|is"
    r"|do|returns|raises|has)|\bplaceholder for (?:sub|over)|\bnot (?:needed|necessary|used|supported)(?: \w+)?(?:"
    r" here| by| for| in|\.|$)|\b(?:is|are|be) (?:ignored|unused|unsupported)\.?$|^\W*ignored?\b"
    r"|^\W*(?:dummy|empty|unused|null|nop|stub for)\b|\bdummy (?:method|function)|\b(?:this|the) (?:method"
    r"|function|callback|option|call) is (?:ignored|unused|not used|deprecated)|\bkept for (?:backward"
    r"|compat)|\bfor (?:backwards?|api|interface|source)[ -]?compatib|\bimplement(?:ed)? (?:by"
    r"|in) (?:the |a |each |concrete |your |derived )*(?:sub|child|deriv|concrete|back-?end|driver"
    r"|plug-?in|implement|class)|\bmust be (?:implemented|defined|provided)|\bunsupported\b|\bno effect\b",
)  # fmt: skip
REFUSED_DOC = _phrases(
    r"\bnot needed\b|\bshould not be (?:used|called)\b|\bsatisf(?:y|ies) the (?:abc|interface|protocol)\b",
    r"\braises?:? [`:\w]*NotImplemented|\bshould (?:not|never) be called|\bsub-?class(?:es)? (?:\w+ )?(?:should"
    r"|must|may|can|need|will|to|has|have|that)\b",
    r"\b(?:by|in) (?:(?:the|a|any|your|its|all|derived|concrete|each) )*(?:sub-?class|derived class"
    r"|child class|implementors?)",
    r"\b(?:must|should|to|needs? to|has to|may|can|meant to|intended to|please|is) (?:be )?overr?idd?en?\b"
    r"|^\W*(?:please )?overrid(?:e|able)\b|\boverride (?:this|it|in|me)\b",
    r"\babstract (?:method|property|function|interface)\b|^\W*abstract\b|\bmust be (?:implemented"
    r"|defined|provided) (?:by|in)\b|\bunsupported\b"
    r"|\b(?:is|are|does) not support(?:ed)?\b|\bnot supported (?:by|on|in|for)\b|\bnot available (?:on|in|for)\b",
)  # fmt: skip
QUOTED = re.compile(r"`[^`]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)")
NO_OP_NAME = re.compile(
    r"(?:^|_)no_?op(?:$|_)|^_?nop$|^_*(?:null|dummy|fake|mock|stub|blank|void|empty)_|_(?:null"
    r"|dummy|noop)$|do_?nothing|"
    r"(?-i:No[oO]p|^_*(?:Null|Dummy|Fake|Mock|Stub|Blank|Silent|Empty|Void|Disabled|Unimplemented)[A-Z_])"
    r"|^_*(?:ignore|dummy|noop|nothing)$|_ignore$",
    re.IGNORECASE,
)
