"""Automation put together: what each verb of it needs from several rooms. The facade is `engine.automation`."""
