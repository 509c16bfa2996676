"""What lets a seat speak: its desk and window, the material, the asking, and the session that pays for it."""
