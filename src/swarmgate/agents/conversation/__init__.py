"""One turn of a role: the model is asked, its calls are carried out, until one of them ends it."""
