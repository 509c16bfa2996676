"""Tells people when something needs somebody: push messages of browsers, webhooks, messages as Slack takes them."""
