"""Decides whether a value is a secret, or an example, a reference, a hash or a word."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from enum import Enum

from swarmgate.gates.secret_scan.terms import BEFORE_KEY, COMMON, IDENTIFYING, OTHER_NAMES, PASSWORDS, SECRETS, TAILS


class Form(Enum):
    """How a value stands in its file: quoted, bare as in an .env file, bare in prose, or inside a longer string."""

    QUOTED = "quoted"
    BARE = "bare"
    PROSE = "prose"
    INNER = "inner"


class Kind(Enum):
    """How certainly a name says that its value is secret, the most certain first."""

    PASSWORD = "password"  # noqa: S105 - a kind, not a password
    SECRET = "secret"  # noqa: S105 - a kind, not a secret
    KEY = "key"


_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_DUMMY = re.compile(
    r"your|example|change[-_ ]?(?:me|it|this)|replace|placeholder|dummy|fake|sample|redacted|insert|todo|fixme"
    r"|x{4,}|\*{3,}|\.{3,}|…|lorem|^my[-_]|<|>|\$\{|\$\(|\{\{|%\(|%s|%d|#\{|\{[^{}\s]*\}|[-_]here$"
    r"|^\$[A-Za-z_{(]|^%[A-Za-z_]|^@[a-z]"
    r"|not[-_]?a?[-_]?(?:real|secret)|^env[.:(]|deadbeef|some[-_]?(?:secret|token|password|key|value)"
    r"|^enc\[|^vault:|^op://"
    r"|^!\w|^ref:|^process\.|^os\.|^config\.|^secrets?\.|mock|^test[-_]|[-_]test$"
    r"|goes[-_]|^a?bcd|abcdef|asdf|qwerty|foo|bar\b|\bbaz"
    r"|#{2,}|^__.*__$|^@.*@$|%[\d.]*[a-z]\w*\b.*%|%[\d.]+f|\(\?|\[\^|\\[dws]|^\\x|\]\+"
    r"|^(?:enter|type|set|choose|use|put|add|provide|generate|define)[-_ ]"
    r"|hidden|masked|removed|omitted|filtered|undefined|^null|^none",
    re.IGNORECASE,
)
_FORMAT_DUMMY = re.compile(
    r"example|x{6,}|\*{3,}|\.{3,}|your[-_]|placeholder|1234567890|0{12,}|_here$|<|\$\{|\{\{"
    r"|redacted|abcdefghij|0123456789",
    re.IGNORECASE,
)
_UUID = re.compile(r"^\{?[0-9a-f]{8}-?[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$", re.IGNORECASE)
_HEX = re.compile(r"^(?:0x)?[0-9a-f]+$", re.IGNORECASE)
_SEQUENCE = re.compile(r"^(?:0?1234?5?6?7?8?9?0?|0+|9?8?7?6?5?4?3?2?1?0?|(\w)\1*)$")
_CALL_OR_PATH = re.compile(
    r"^[\w$.:>\-]+\(|^[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+(?:\[.*)?$|^[\w$.]+\["
    r"|^[~.]{0,2}/[\w./~\-]*$|^\w[\w.+\-]*://[^@\s]*$"
    r"|^[A-Za-z]:\\|\.(?:pem|key|crt|cer|json|ya?ml|txt|p12|pfx|jks|env|properties|php|js|py|html?|css|xml|svg|png)$"
    r"|^[\w.+\-]+@[\w\-]+\.\w+$",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_JOINED = re.compile(r"^[A-Za-z]+(?:[-_./: +][A-Za-z]*\d?)+$|^[a-z]+(?:[A-Z][a-z]+)+\d?$|^[A-Z][a-z]+(?:[A-Z][a-z]+)*$")
_NAMED = re.compile(r"passw|passphrase|secret|token|(?:^|[_.\-])key|key$|credential", re.IGNORECASE)
_HASH = re.compile(
    r"^(?:\$(?:argon2\w{0,2}|2[aby]|[156y]|apr1|pbkdf2[\w-]*)\$[\w$=,./+-]{20,}|pbkdf2_sha\d+\$\S{20,})$"
)
_BASE64 = re.compile(r"^[A-Za-z0-9+/_\-]{14,}={1,2}$")
_NUMBER = re.compile(r"^(?:0x[0-9a-fA-F]+|\d{1,4}|\d+\.\d+(?:\.\d+)*)$")
_MIN_PART, _MIN_HEX_BITS = 7, 2.3
_MIN_UUID_BITS, _MIN_UUID_LETTERS = 3.0, 3
"""Bits a character and different letters of a random UUID: of 100,000 made by `uuid4` the least has 3.06 bits."""
_CONSONANTS = re.compile(
    r"[bcdfghjklmnpqrstvwxz]{6}|[BCDFGHJKLMNPQRSTVWXZ]{7}|[bcdfghjklmnpqrstvwxz]{2}[qxzj][bcdfghjklmnpqrstvwxz]{2}"
)
_TURNS = re.compile(
    r"\d(?=[A-Za-z])|[a-z](?=[A-Z][A-Z0-9])|[A-Za-z](?=\d[A-Za-z])|[A-Z]{2}(?=[a-z])|[A-Z][a-z](?=[A-Z])"
)
_WORDS = re.compile(r"^[A-Za-z][a-z]{0,9}(?:[ _-][a-z]{1,10})?$")
_PEERS = r"user(?:_?name)?|login|role|db|database|dbname|db_?name|database_?name|schema|_name|service|account"
_LONGEST_NAME = 40
_MIN_LENGTH, _MIN_SECRET, _MIN_KEY = 4, 8, 16


def formatted(value: str, *, check: str, min_entropy: float, user: str = "") -> bool:
    """Whether a value in a provider's format is a real one.

    Args:
        value: the matched secret.
        check: the rule's further test (see the rule file), or empty.
        min_entropy: bits a character that it must have.
        user: the user name beside it, where the format has one: the same word is an example.
    """
    if check == "weak":
        return value.lower() != user.lower() and _password(value, Form.QUOTED)
    if check == "any":
        return len(set(value)) > 2  # noqa: PLR2004 - `xxxxxx`, `******`
    if check == "random":
        return not _FORMAT_DUMMY.search(value) and random_looking(value, _MIN_KEY)
    if check == "basic":
        return _is_basic(value)
    if check == "jwt":
        return _is_jwt(value)
    if len(set(value)) <= 4 or (min_entropy and entropy(value) < min_entropy):  # noqa: PLR2004 - `AKIAAAAA...`
        return False
    return not _FORMAT_DUMMY.search(value)


def assigned(name: str, value: str, form: Form) -> bool:
    """Whether a value that is assigned to a telling name is a secret.

    Args:
        name: the name as it stands in the file: `DB_PASSWORD`, `spring.datasource.password`, `apiKey`.
        value: the text assigned to it, without quotes.
        form: how it stands there.
    """
    value = value.strip()
    kind = kind_of(name)
    if kind is None or len(value) < _MIN_LENGTH or value.lower() == name.lower():
        return False
    if kind is Kind.PASSWORD and form is not Form.INNER:
        return _password(value, form)
    if _reference(value, form):
        return False
    if _UUID.match(value):
        return kind is Kind.SECRET and not _identifies(name) and _random_uuid(value.lower())
    if kind is Kind.KEY:
        return random_looking(value, _MIN_KEY)
    if random_looking(value, _MIN_SECRET):
        return True
    return (
        name.lower().endswith("secret")
        and form is not Form.PROSE
        and len(value) >= _MIN_SECRET
        and _password(value, form)
    )


def _identifies(name: str) -> bool:
    """Whether a name tells of a request or of where a secret is kept: a UUID is an identifier there."""
    words = [word.lower() for word in _HUMPS.findall(name)]
    return bool(set(words) & IDENTIFYING) or words[-2:] == ["client", "token"]


def _random_uuid(value: str) -> bool:
    """Whether a UUID was made at random, and not by a hand or as an example."""
    letters = {char for char in value if char.isalpha()}
    return value not in COMMON and len(letters) >= _MIN_UUID_LETTERS and entropy(value) >= _MIN_UUID_BITS


def kind_of(name: str) -> Kind | None:
    """The kind of a name; None when it names something else (`password_field`, `primaryKey`, `token_url`)."""
    words = [word.lower() for word in _HUMPS.findall(name.rsplit(".", 1)[-1] if "." in name else name)]
    if not words:
        return None
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in TAILS):
        words.pop()
    last = words[-1]
    if set(words[:-1]) & OTHER_NAMES:
        return None
    if last in PASSWORDS or last.endswith(("password", "passwd", "pwd", "passphrase")):
        return Kind.PASSWORD
    if last in SECRETS or last.endswith(("secret", "token", "apikey")):
        return Kind.SECRET
    if last == "key" and len(words) > 1 and words[-2] in BEFORE_KEY:
        return Kind.SECRET
    return Kind.KEY if last.endswith(("key", "tokens", "auth", "salt", "cred", "authorization")) else None


def _password(value: str, form: Form) -> bool:
    if _reference(value, form) or value.lower() in COMMON or _SEQUENCE.match(value) or len(value) < _MIN_LENGTH:
        return False
    if form is Form.PROSE and not _strong(value):
        return False
    if (
        _JOINED.match(value)
        and not value[-1].isdigit()
        and (_NAMED.search(value) or value[0].isupper() or any(c in value for c in "._ :/"))
    ):
        return False
    return not _NUMBER.match(value)


def _reference(value: str, form: Form) -> bool:
    """Whether a value stands for another one, is prose, or is the text of an example."""
    if any(c.isspace() or (c.isalpha() and not c.isascii()) for c in value):
        return True
    if _HASH.match(value):
        return False
    if _DUMMY.search(value) or _CONSTANT.match(value) or _CALL_OR_PATH.search(value):
        return True
    if form is not Form.QUOTED and re.search(r"[(){}\[\]|\"'`\\]", value):
        return True
    return not any(c.isalnum() for c in value) or len(set(value)) <= 2  # noqa: PLR2004 - `xxxxxx`, `------`


def random_looking(value: str, shortest: int) -> bool:
    """Whether a value looks generated: one part of it, at least, is no word, no number and no word with a number."""
    if len(value) < shortest or _SEQUENCE.match(value) or not any(c.isalpha() for c in value):
        return False
    if _HEX.match(value):
        return any(c.isdigit() for c in value) and entropy(value) >= _MIN_HEX_BITS
    if _BASE64.match(value):
        return entropy(value) >= 3.0  # noqa: PLR2004 - measured
    long = max(re.split(r"[-_./:+@=%]", value), key=len)
    return len(long) >= _MIN_PART and _generated(long) and entropy(value) >= 2.5  # noqa: PLR2004 - measured


def _generated(part: str) -> bool:
    if _CONSONANTS.search(part):
        return True
    turns = len(_TURNS.findall(part))
    return turns >= max(2, len(part) // 6) if any(c.isdigit() for c in part) else turns >= max(3, len(part) // 5)


def _strong(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value) and not _CONSTANT.match(value)


def _is_basic(value: str) -> bool:
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    user, colon, password = text.partition(":")
    return (
        bool(colon and user.isprintable() and password.isprintable())
        and bool(password)
        and not _FORMAT_DUMMY.search(text)
        and not _is_word(password, user)
    )


def _is_word(password: str, user: str) -> bool:
    """Whether the password of an example: the user's name, a common one, a plain word, words (`open sesame`)."""
    lower = password.lower()
    example = lower == user.lower() or lower in COMMON or bool(_SEQUENCE.match(password))
    return example or bool(_WORDS.match(password) and not _CONSONANTS.search(password))


_COMMENT = re.compile(r"(?:^|\s)(?:#|//|--\s|/\*|<!--).*$", re.MULTILINE)
"""What a comment says is nobody's user name: a change could write any."""


def is_local_default(value: str, before: str, after: str) -> bool:
    """Whether a password only repeats the user, the database or the service that stands near it, in no comment.

    Args:
        value: the password.
        before: the text above it; `name:` alone on a line opens the service of a compose file or a workflow.
        after: the text below it.
    """
    if len(value) > _LONGEST_NAME or random_looking(value, _MIN_SECRET):
        return False
    before, after = _COMMENT.sub("", before), _COMMENT.sub("", after)
    near = f"{before}\n{after}"
    if value.lower() not in near.lower():
        return False
    word = re.escape(value)
    named = rf"(?:{_PEERS})[\"'`]?[ \t]{{0,4}}(?:=>|:=|[:=,>])[ \t]{{0,4}}[\"'`]?{word}(?![\w.-])"
    service = rf"^[ \t]{{0,12}}{word}:[ \t]{{0,4}}\r?$"
    return bool(re.search(named, near, re.IGNORECASE) or re.search(service, before, re.IGNORECASE | re.MULTILINE))


def _is_jwt(value: str) -> bool:
    head, _, rest = value.partition(".")
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, UnicodeDecodeError):
        return False
    return isinstance(header, dict) and "alg" in header and not re.search(r"x{6,}|\.{3,}", rest)


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
