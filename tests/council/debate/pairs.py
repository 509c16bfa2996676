"""Labelled pairs of claims (same or different), which the novelty measure is tested on."""

from __future__ import annotations

SAME = (
    ("The cache is never invalidated.", "the cache is never invalidated"),
    ("Retries are not bounded.", "The retries are not bounded!"),
    ("Passwords are stored in plain text.", "The passwords are being stored in plain text."),
    ("The migration drops the column before the data is copied.", "Before the data is copied, the migration drops the column."),  # noqa: E501 - a row of the table
    ("The lock is held during the network call.", "During the network call the lock is held."),
    ("A timeout of 30 seconds is too long.", "The timeout of 30 seconds is too long."),
    ("Two writers can race on the counter.", "Two writers race on the counter."),
    ("SQL is built by joining strings.", "The SQL is built by joining strings"),
    ("The index is missing on user_id.", "On user_id, the index is missing."),
    ("As r1-msg-002 says, the queue grows without bound.", "The queue grows without bound."),
    ("Error messages leak the stack trace.", "The error message leaks the stack trace."),
    ("The API breaks existing clients.", "This API breaks the existing clients."),
    ("The session cookie lacks the Secure flag.", "the session cookie lacks the secure flag"),
    ("The loop is off by one.", "This loop is off by one."),
    ("The retry count is 3.", "The retry count is three."),
)  # fmt: skip
"""Each pair says one thing."""


IN_DOUBT = (
    ("The token is never checked for its expiry.", "The expiry of the token is never checked."),
    ("`load()` reads the whole file into memory.", "The whole file is read into memory by `load()`."),
    ("The plan has no rollback step.", "There is no rollback step in the plan."),
    ("The test covers only the happy path.", "Only the happy path is covered by the test."),
    ("The cost of the nightly job doubles.", "The nightly job's cost doubles."),
    ("It doesn't handle empty lists.", "Empty lists it doesn't handle."),
    ("The patch handles empty input correctly.", "Empty input is handled correctly by the patch."),
    ("Logging every request costs too much disk space.", "Too much disk space: logging every request costs that."),
)
"""Each pair says one thing in another order of words, as swapped roles do: judged new."""

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

ATTACKED = (
    ("The client authenticates the server.", "The server authenticates the client."),
    ("Table orders depends on table users.", "Table users depends on table orders."),
    ("Rows are copied from the cache to the disk.", "Rows are copied from the disk to the cache."),
    ("All requests are checked for a signature.", "Some requests are checked for a signature."),
    ("The lock must be held while the index is written.", "The lock may be held while the index is written."),
    ("Deleting a user deletes the orders of the tenant.", "Deleting a tenant deletes the orders of the user."),
    ("The function validates the signature of the token but ignores the expiry of the session cookie.", "The function validates the signature of the token but ignores the issuer of the session cookie."),  # noqa: E501 - a row of the table
    ("The migration locks the table customers for the whole backfill, so checkout stalls.", "The migration locks the table consumers for the whole backfill, so checkout stalls."),  # noqa: E501 - a row of the table
    ("The handler leaks the password of the user into the debug log of the worker process.", "The handler leaks the passport of the user into the debug log of the worker process."),  # noqa: E501 - a row of the table
    ("The retry loop permits duplicate payments when the gateway times out during settlement.", "The retry loop prevents duplicate payments when the gateway times out during settlement."),  # noqa: E501 - a row of the table
    ("The new endpoint exposes internal customer records to every authenticated partner account.", "The new endpoint exposes internal customer records to every unauthenticated partner account."),  # noqa: E501 - a row of the table
    ("The backup job is encrypted at rest with the key of the tenant and rotated every month.", "The backup job is unencrypted at rest with the key of the tenant and rotated every month."),  # noqa: E501 - a row of the table
    ("It breaks if the list is empty.", "It breaks only when the list is empty and then."),
    ("The parser refuses documents which are larger than the configured maximum size limit.", "The parser accepts documents which are larger than the configured maximum size limit."),  # noqa: E501 - a row of the table
    ("Die Sperre wird vor dem Schreiben freigegeben.", "Die Sperre wird nach dem Schreiben freigegeben."),
    ("\u9501\u5728\u5199\u5165\u4e4b\u524d\u88ab\u91ca\u653e\u3002", "\u9501\u5728\u5199\u5165\u4e4b\u540e\u88ab\u91ca\u653e\u3002"),  # noqa: E501 - a row of the table
    ("The test covers the happy path of the function and is green on main", "The test covers the error path of the function and is green on main"),  # noqa: E501 - a row of the table
    ("The cache is invalidated by the writer, so readers see the change.", "The cache is validated by the writer, so readers see the change."),  # noqa: E501 - a row of the table
    ("x = y", "y = x"),
)  # fmt: skip
"""Each pair says two things in nearly the same words: found by who tried to end debates early."""

HELD_OUT_SAME = (
    ("The worker never closes its database connection.", "Workers never close the database connection."),
    ("If the disk is full, the upload fails silently.", "The upload fails silently if the disk is full."),
    ("User input reaches the shell unescaped.", "The user's input reaches the shell unescaped."),
    ("The endpoint has no rate limit.", "There is no rate limit on the endpoint."),
    ("Every request opens a new connection.", "Each request opens a new connection."),
    ("The backfill can't be resumed.", "The backfill cannot be resumed."),
    ("The feature flag is never removed.", "Nobody ever removes the feature flag."),
    ("Secrets are written to the log file.", "The log file has secrets written to it."),
    ("Rolling back the schema loses data.", "A rollback of the schema loses data."),
    ("The pagination cursor isn't stable.", "The pagination cursor is not stable."),
    ("With two replicas, the cron job runs twice.", "The cron job runs twice with two replicas."),
    ("The webhook handler is not idempotent.", "Webhook handlers are not idempotent."),
)
HELD_OUT_DIFFERENT = (
    ("The scheduler waits for the worker to finish.", "The worker waits for the scheduler to finish."),
    ("Replica A is promoted when replica B fails.", "Replica B is promoted when replica A fails."),
    ("Every endpoint checks the role of the caller.", "Most endpoints check the role of the caller."),
    ("The migration should run inside a transaction.", "The migration could run inside a transaction."),
    ("The request is signed by the gateway.", "The gateway is signed by the request."),
    ("The queue blocks the writer.", "The queue is blocked by the writer."),
    ("The export includes deleted rows.", "The export excludes deleted rows."),
    ("Latency drops from 80 ms to 20 ms under load.", "Latency drops from 20 ms to 80 ms under load."),
    ("The check runs if count < limit.", "The check runs if count > limit."),
    ("The service caches only successful responses.", "The service caches successful responses."),
    ("The session is renewed on each request of the mobile client.", "The session is revoked on each request of the mobile client."),  # noqa: E501 - a row of the table
    ("The consumer acknowledges the message and the broker deletes it.", "The consumer acknowledges the message or the broker deletes it."),  # noqa: E501 - a row of the table
    ("The proxy trusts the header of the load balancer.", "The load balancer trusts the header of the proxy."),
    ("The job rarely holds the lock of the orders table.", "The job holds the lock of the orders table."),
    ("The worker is blocking.", "The worker is blocked."),
    ("The default of the offset is -1.", "The default of the offset is 1."),
    ("Reads need the lock, writes do not.", "Writes need the lock, reads do not."),
    ("The hash is compared in constant time.", "The hash is compared in linear time."),
    ("A user without a role can delete the project.", "A user with a role can delete the project."),
    ("The test fails because the fixture leaks.", "The fixture leaks because the test fails."),
)  # fmt: skip
"""Written before the measure was changed, and not used to change it."""
