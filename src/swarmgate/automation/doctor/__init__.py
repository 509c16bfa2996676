"""The doctor: is everything there that the work needs, and do the settings say what was meant?

It spends no tokens. One module for each group of checks; `diagnosis` puts them together and mends what can be mended.
"""
