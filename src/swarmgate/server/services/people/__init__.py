"""Accounts and repositories, as the faces ask for them."""
