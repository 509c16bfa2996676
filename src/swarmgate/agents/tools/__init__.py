"""Tool definitions: the arguments of each tool, which role is offered which, and answers in a fixed form."""
