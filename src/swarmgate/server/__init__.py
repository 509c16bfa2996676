"""The team server: a face that serves goals, approvals and councils of many people over HTTP."""
