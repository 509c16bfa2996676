"""Logins that go on: the cookie of a browser, or tokens that are refreshed. Both end at once when they are revoked."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from swarmgate.errors import Unauthenticated
from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import Tokens
from swarmgate.server.accounts.secret_texts import COOKIE, REFRESH, hash_of, new_secret
from swarmgate.server.accounts.signing import Signer

TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created REAL NOT NULL, used REAL NOT NULL, expires REAL NOT NULL);
CREATE INDEX IF NOT EXISTS sessions_of ON sessions (account);
CREATE TABLE IF NOT EXISTS session_secrets (
    hash TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, used REAL);
CREATE INDEX IF NOT EXISTS secrets_of ON session_secrets (session);
"""
AUDIENCE = "swarmgate-api"
"""For whom access tokens are."""
_TOUCHED_S = 3600
"""Seconds after which a use of a cookie is written down again."""
_REFUSED = "The login is over, revoked or wrong."
_HINT = "log in again"


@dataclass(frozen=True, slots=True)
class Session:
    """A login: its id, its account's id, and when it ends (seconds since 1970)."""

    id: str
    account: str
    expires: float


class Sessions:
    """The logins of one server; they may be used from several threads.

    Args:
        database: with the tables of this file.
        signer: of access tokens.
        access_s: how long one of those lives, in seconds.
        refresh_s: how long a login lives that is not used, in seconds.
        clock: seconds since 1970.
    """

    def __init__(
        self, database: Database, signer: Signer, *, access_s: float, refresh_s: float, clock: Callable[[], float]
    ) -> None:
        self._database, self._signer, self._clock = database, signer, clock
        self._access_s, self._refresh_s = access_s, refresh_s

    def begin(self, account: str) -> tuple[Session, str]:
        """Begins the login of a browser, and the secret that its cookie holds.

        Raises:
            Unauthenticated: the account was disabled or deleted meanwhile.
        """
        return self._begin(account, COOKIE)

    def issue(self, account: str) -> Tokens:
        """Begins the login of a program, and its first tokens; raises as `begin`."""
        return self._tokens(*self._begin(account, REFRESH))

    def refresh(self, token: str) -> Tokens:
        """The next tokens for a refresh token, which is used up by that.

        Raises:
            Unauthenticated: it is none, or over. One that was used before is stolen, or was: its whole login ends.
        """
        with self._database.writing() as database:
            row = database.execute(
                "SELECT hash, session, session_secrets.used, account, expires FROM session_secrets"
                " JOIN sessions ON sessions.id = session WHERE hash = ?",
                (hash_of(token),),
            ).fetchone()
            known = row is not None and token.startswith(REFRESH)
            if known and row["used"] is None and row["expires"] > self._clock():
                database.execute("UPDATE session_secrets SET used = ? WHERE hash = ?", (self._clock(), row["hash"]))
                session = Session(row["session"], row["account"], self._clock() + self._refresh_s)
                return self._tokens(self._extended(session), self._secret(session.id, REFRESH))
            if known:
                database.execute("DELETE FROM sessions WHERE id = ?", (row["session"],))
        raise Reused(row["account"]) if known and row["used"] is not None else Unauthenticated(_REFUSED, hint=_HINT)

    def of_cookie(self, secret: str) -> Session:
        """The login of a cookie; that it is used makes it last.

        Raises:
            Unauthenticated: there is none, or none any more.
        """
        row = self._database.row(
            "SELECT sessions.* FROM session_secrets JOIN sessions ON sessions.id = session WHERE hash = ?",
            hash_of(secret),
        )
        now = self._clock()
        if row is None or not secret.startswith(COOKIE) or row["expires"] <= now:
            raise Unauthenticated(_REFUSED, hint=_HINT)
        session = Session(row["id"], row["account"], row["expires"])
        if abs(now - row["used"]) < _TOUCHED_S:
            return session
        return self._extended(Session(row["id"], row["account"], now + self._refresh_s))

    def of_token(self, token: str) -> Session:
        """The login of an access token; `expires` is that of the token.

        Raises:
            Unauthenticated: the token is wrong or over, or its login was ended.
        """
        claims = self._signer.read(token, AUDIENCE)
        row = self._database.row("SELECT account FROM sessions WHERE id = ?", str(claims.get("sid", "")))
        if row is None or row["account"] != claims["sub"]:
            raise Unauthenticated(_REFUSED, hint=_HINT)
        return Session(str(claims["sid"]), row["account"], float(claims["exp"]))

    def end(self, session: str) -> None:
        """Ends one login: its cookie or its tokens prove nobody any more."""
        with self._database.writing() as database:
            database.execute("DELETE FROM sessions WHERE id = ?", (session,))

    def end_all(self, account: str, *, but: str = "") -> None:
        """Ends every login of an account, but one."""
        with self._database.writing() as database:
            database.execute("DELETE FROM sessions WHERE account = ? AND id <> ?", (account, but))

    def _begin(self, account: str, prefix: str) -> tuple[Session, str]:
        now = self._clock()
        session = Session(secrets.token_hex(8), account, now + self._refresh_s)
        with self._database.writing() as database:
            database.execute("DELETE FROM sessions WHERE expires <= ?", (now,))
            begun = database.execute(
                "INSERT INTO sessions SELECT ?, id, ?, ?, ? FROM accounts WHERE id = ? AND NOT disabled",
                (session.id, now, now, session.expires, account),
            )
            if not begun.rowcount:
                raise Unauthenticated(_REFUSED, hint=_HINT)
            return session, self._secret(session.id, prefix)

    def _secret(self, session: str, prefix: str) -> str:
        secret = new_secret(prefix)
        with self._database.writing() as database:
            database.execute("INSERT INTO session_secrets VALUES (?, ?, NULL)", (hash_of(secret), session))
        return secret

    def _extended(self, session: Session) -> Session:
        with self._database.writing() as database:
            database.execute(
                "UPDATE sessions SET used = ?, expires = ? WHERE id = ?", (self._clock(), session.expires, session.id)
            )
        return session

    def _tokens(self, session: Session, refresh: str) -> Tokens:
        access = self._signer.sign(AUDIENCE, session.account, self._access_s, sid=session.id)
        return Tokens(access_token=access, refresh_token=refresh, expires_in=int(self._access_s))


class Reused(Unauthenticated):
    """A refresh token came a second time: somebody else has it. The answer does not say so, the audit log does.

    Args:
        account: the id of whose it was.
    """

    def __init__(self, account: str) -> None:
        super().__init__(_REFUSED, hint=_HINT)
        self.account = account
