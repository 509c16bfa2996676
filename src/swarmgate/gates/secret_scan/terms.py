"""The word lists that tell names of secrets and example values from all others."""

from __future__ import annotations

PASSWORDS = frozenset({
    "pass", "passcode", "passphrase", "passw", "passwd", "password", "passwords", "passwort", "pswd", "pw", "pwd",
})  # fmt: skip
"""Last words of names whose value is a password."""

SECRETS = frozenset({
    "accesskey", "accesstoken", "apikey", "apitoken", "authkey", "authtoken", "credential", "credentials", "secret",
    "secretkey", "secrets", "token",
})  # fmt: skip
"""Last words of names whose value is a token, a key or another generated secret."""

BEFORE_KEY = frozenset({
    "access", "account", "admin", "aes", "api", "app", "application", "auth", "client", "consumer", "cookie", "crypt",
    "crypto", "deploy", "des", "encrypt", "encryption", "hmac", "ingest", "jwt", "master", "oauth", "private", "root",
    "rsa", "secret", "server", "service", "session", "shared", "sign", "signing", "ssh", "steam", "storage",
    "subscription", "validation", "write",
})  # fmt: skip
"""Words that make the `key` after them a secret one."""

TAILS = frozenset({
    "admin", "again", "b64", "base", "confirm", "confirmation", "data", "db", "default", "dev", "en", "encoded",
    "for", "hex", "literal", "live", "local", "me", "new", "old", "plain", "prod", "production", "qa", "raw",
    "repeat", "root", "staging", "str", "string", "test", "text", "the", "user", "v", "val", "value",
})  # fmt: skip
"""Words that may follow the telling one: `secret_key_base`, `password_confirmation`, `TOKEN_PROD`."""

OTHER_NAMES = frozenset({
    "author", "authors", "bad", "bos", "by", "bypass", "cache", "cancellation", "change", "checksum", "cls", "column",
    "compass", "continuation", "csrf", "css", "desc", "description", "digest", "enable", "encrypted", "eos", "err",
    "error", "field", "first", "foreign", "forget", "forgot", "forgotten", "format", "has", "hash", "hashed", "help",
    "hide", "hint", "host", "i18n", "idempotency", "index", "invalid", "is", "keyboard", "known", "label", "last",
    "lbl", "license", "mandatory", "map", "mask", "max", "message", "method", "min", "missing", "monkey", "msg",
    "next", "no", "num", "number", "pad", "page", "partition", "pattern", "placeholder", "primary", "pub", "public",
    "regex", "require", "required", "selector", "sep", "sha", "show", "sort", "sorted", "spdx", "special", "sprite",
    "stop", "text", "title", "tokenizer", "tooltip", "total", "translation", "trigger", "type", "unk", "usage", "use",
    "wrong",
})  # fmt: skip
"""Words before the telling one that make the name one of something else: `primary_key`, `LABEL_PASSWORD`."""

IDENTIFYING = frozenset({
    "continuation", "correlation", "credential", "credentials", "id", "idempotency", "instrumentation",
    "namespace", "operation", "ref", "reference", "registration", "request", "resume", "sync", "tracking",
    "transaction", "uid", "upload", "uuid", "version",
})  # fmt: skip
"""Words of names whose UUID is no secret: AWS's `ClientToken`, the id of credentials that are kept elsewhere."""

COMMON = frozenset({
    "abc", "abc123", "abcd", "abcde", "admin", "admin123", "alice", "all", "always", "anonymous", "any", "api_key",
    "apikey", "array", "ask", "authorization", "auto", "bad", "basic", "bcrypt", "bearer", "bob", "body", "bool",
    "boolean", "bytes", "changeit", "code", "config", "confirm", "content", "cookie", "current", "data", "date",
    "default", "demo", "disabled", "doe", "email", "empty", "enabled", "encrypted", "error", "external", "false",
    "field", "file", "form", "function", "good", "guest", "hash", "hashed", "header", "hidden", "id", "input", "int",
    "integer", "internal", "invalid", "john", "json", "jwt", "key", "letmein", "localhost", "login", "masked", "md5",
    "mysql", "name", "never", "new", "nil", "no", "none", "null", "number", "oauth", "oauth2", "object", "off", "old",
    "on", "optional", "other", "p@ssw0rd", "p@ssword", "pass", "passphrase", "passw0rd", "passwd", "password",
    "password1", "path", "plain", "plaintext", "postgres", "private", "prompt", "public", "pwd", "query", "qwerty",
    "request", "required", "response", "root", "root123", "secret", "secrets", "sekret", "self", "session",
    "settings", "sha1", "sha256", "str", "string", "test", "test123", "testing", "tests", "text", "token", "tokens",
    "true", "type", "undefined", "unknown", "user", "username", "valid", "value", "welcome", "word", "wrong", "yes",
    "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426655440000",
    "550e8400-e29b-41d4-a716-446655440000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
})  # fmt: skip
"""Values that are examples, names of types and settings: never a secret."""
