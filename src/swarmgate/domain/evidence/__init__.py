"""How complete the evidence of attempts is, and the story that it tells of one task."""
