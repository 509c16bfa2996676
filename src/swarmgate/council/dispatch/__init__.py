"""A dispatch: tasks for voices, one alone, side by side, one after the other, or as the seats of a debate."""
