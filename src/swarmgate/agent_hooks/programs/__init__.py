"""The programs whose hooks are answered: what is written into their settings, and taken out again."""
