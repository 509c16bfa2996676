"""What lets a seat speak: its agent context and window, the material, the asking, and the session that pays for it."""
