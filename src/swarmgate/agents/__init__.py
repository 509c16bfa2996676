"""Roles played by language models: each role takes a brief, runs a tool loop and returns a typed reply.

    architect, critic, coder, reviewer, test_engineer   one role a file: what it is told, what its reply means
    turn        the loop: ask the model, carry out its tool calls, until one of them ends the turn
    tools       the table: every tool with its arguments, and who is offered which
    toolbox     what the tools do, and the guards before them
    brief       the first user message: header lines, then fenced sections
    prompts     the system message, from `prompts/<role>.md` or `prompts/<role>/<step>.md`

What an agent says decides nothing here: a role returns what was said, the engine weighs it.
"""
