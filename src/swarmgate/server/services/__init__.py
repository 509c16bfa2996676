"""What the faces of the server ask for, authorised."""
