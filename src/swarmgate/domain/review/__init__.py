"""What judges say of an attempt: findings, verdicts, votes, the change itself, and the stage that rejected it."""
