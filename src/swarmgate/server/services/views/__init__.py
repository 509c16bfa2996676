"""What services answer: frozen models of the field's words, most of them with a report of the engine inside."""
