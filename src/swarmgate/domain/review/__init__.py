"""Records of judging an attempt: change set, findings, verdicts, votes, and the stage that rejected it."""
