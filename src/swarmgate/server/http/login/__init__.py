"""How somebody logs in: by a password, by a link, through an OpenID provider; and the cookie of a session."""
