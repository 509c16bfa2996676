"""The doctor: checks the settings, the models, the tools and the environment that the project needs.

It spends no tokens. One module for each group of checks; `diagnosis` puts them together and mends what can be mended.
"""
