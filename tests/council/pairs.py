"""Labelled pairs of claims: the same in other words, or different. What the measure of likeness was chosen by."""

from __future__ import annotations

SAME = (
    ("The cache is never invalidated.", "the cache is never invalidated"),
    ("The token is never checked for its expiry.", "The expiry of the token is never checked."),
    ("Retries are not bounded.", "The retries are not bounded!"),
    ("Passwords are stored in plain text.", "The passwords are being stored in plain text."),
    ("`load()` reads the whole file into memory.", "The whole file is read into memory by `load()`."),
    ("The migration drops the column before the data is copied.", "Before the data is copied, the migration drops the column."),  # noqa: E501 - a row of the table
    ("The lock is held during the network call.", "During the network call the lock is held."),
    ("A timeout of 30 seconds is too long.", "The timeout of 30 seconds is too long."),
    ("Two writers can race on the counter.", "Two writers race on the counter."),
    ("SQL is built by joining strings.", "The SQL is built by joining strings"),
    ("The index is missing on user_id.", "On user_id, the index is missing."),
    ("As r1-msg-002 says, the queue grows without bound.", "The queue grows without bound."),
    ("Error messages leak the stack trace.", "The error message leaks the stack trace."),
    ("The plan has no rollback step.", "There is no rollback step in the plan."),
    ("The test covers only the happy path.", "Only the happy path is covered by the test."),
    ("The API breaks existing clients.", "This API breaks the existing clients."),
    ("The cost of the nightly job doubles.", "The nightly job's cost doubles."),
    ("The session cookie lacks the Secure flag.", "the session cookie lacks the secure flag"),
    ("It doesn't handle empty lists.", "Empty lists it doesn't handle."),
    ("The patch handles empty input correctly.", "Empty input is handled correctly by the patch."),
    ("Logging every request costs too much disk space.", "Too much disk space: logging every request costs that."),
    ("The loop is off by one.", "This loop is off by one."),
    ("The retry count is 3.", "The retry count is three."),
)  # fmt: skip
"""Each pair says one thing."""

DIFFERENT = (
    ("The cache is invalidated on write.", "The cache is not invalidated on write."),
    ("The cache is stale.", "The cache is stale and the token leaks to the log."),
    ("The timeout is 30 seconds.", "The timeout is 60 seconds."),
    ("The lock is taken before the write.", "The lock is taken after the write."),
    ("`load()` is not safe for concurrent calls of the handler.", "`save()` is not safe for concurrent calls of the handler."),  # noqa: E501 - a row of the table
    ("The index on user_id is missing.", "The index on order_id is missing."),
    ("Retries are bounded by a limit.", "Retries are never bounded by a limit."),
    ("The change makes reads faster for all of the tenants.", "The change makes reads slower for all of the tenants."),
    ("The change is safe for existing clients of the service.", "The change is unsafe for existing clients of the service."),  # noqa: E501 - a row of the table
    ("Passwords are stored in plain text.", "Passwords are sent in plain text by mail."),
    ("Two writers can race on the counter.", "Three writers can race on the counter."),
    ("The migration drops the column email.", "The migration drops the table orders."),
    ("The client retries the request after an error.", "The server retries the request after an error."),
    ("The token expires after 15 minutes.", "The token expires after 15 hours."),
    ("The plan has no rollback step.", "The plan has no test step."),
    ("The API returns HTTP 404.", "The API returns HTTP 500."),
    ("The design increases the latency of each request.", "The design decreases the latency of each request."),
    ("The job must run with a lock.", "The job must run without a lock."),
    ("Sessions are kept in Redis.", "Sessions are kept in memory."),
    ("The patch handles empty input.", "The patch handles unicode input."),
    ("The loop is off by one.", "The loop never ends."),
    ("The writes are always ordered by the queue.", "The writes are sometimes ordered by the queue."),
    ("Rows are inserted in one transaction with the audit entry.", "Rows are deleted in one transaction with the audit entry."),  # noqa: E501 - a row of the table
    ("The cost doubles.", "The risk doubles."),
    ("The hash is SHA256 over the body of the message.", "The hash is SHA512 over the body of the message."),
    ("It handles errors.", "It hides errors."),
    ("The cookie lacks the Secure flag.", "The cookie lacks the HttpOnly flag."),
)  # fmt: skip
"""Each pair says two things."""
