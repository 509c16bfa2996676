"""The tools of roles: what each takes, who is offered which, and answers in a fixed form."""
