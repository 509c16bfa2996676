"""How often an account, or an address, may ask."""
