"""Decides whether a text is about a domain of knowledge: it names the domain, or speaks the words of its field."""

from __future__ import annotations

import re
from functools import cache

from swarmgate.ledger.context.questions import meaning, words

_FIELDS = {
    "security auth authentication authorization authorisation cryptography crypto privacy": (
        "secur* auth authent* authori[sz]* log(in|out)s? sign(in|up|ed|ing) password* passphrase* hash* "
        "salt* bcrypt argon2* scrypt tokens? jwt jwts oauth* oidc saml sso mfa t?otp sessions? cookies? csrf xss "
        "cors secrets? credentials? crypt* encrypt* decrypt* ciphers? tls ssl certificates? permissions? roles? "
        "rbac acl inject* escap* saniti[sz]* signatures? vulnerab* privacy"
    ),
    "api apis rest http graphql backend": (
        "apis? rest restful graphql grpc https? endpoints? rout(e|es|er|ers|ing) requests? responses? webhooks? openapi"
    ),
    "database databases db sql persistence storage": (
        "databases? db sql quer(y|ies) schemas? migrations? transactions? orm postgres* mysql sqlite mongo* redis"
    ),
    "frontend ui ux accessibility a11y": (
        "frontend ui ux components? pages? css html dom react vue svelte buttons? forms? layouts? accessib* aria"
    ),
    "performance scalability": (
        "performance latency throughput cach* benchmark* profil* optimi[sz]* slow fast* speed scal*"
    ),
    "testing tests qa": "tests? testing fixtures? coverage mocks?",
    "devops deployment infrastructure operations ci": (
        "deploy* docker* containers? kubernetes helm terraform pipelines? ci cd releas* infrastructure"
    ),
    "concurrency": "concurren* threads? threading async asyncio locks? locking races? parallel* queues? workers?",
    "observability logging monitoring": "logs? logg* metrics? trac(e|es|ing) monitor* alerts? telemetry",
}
"""The fields that teams have experts for: names of domains, and patterns of the words that texts of the field speak."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def concerns(domain: str, text: str) -> bool:
    """Whether a text is about a domain.

    Args:
        domain: its name, as the heading in context.md has it.
        text: what somebody works on: titles, criteria, paths.
    """
    named = set(meaning(words(domain)))
    if not named:
        return False
    spoken = re.findall(r"[^\W_]+", _CAMEL.sub(" ", text).casefold())
    if named <= set(meaning([*words(text), *spoken])):
        return True
    called = set(words(domain))
    fields = [said for names, said in _FIELDS.items() if called & set(names.split())]
    return any(_pattern(said).fullmatch(word) for said in fields for word in spoken)


@cache
def _pattern(said: str) -> re.Pattern[str]:
    return re.compile("|".join(said.replace("*", r"\w*").split()))
