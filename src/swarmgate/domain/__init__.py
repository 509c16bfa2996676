"""The rules of the loop as pure code: frozen records, the event union, `fold`, `next_step`. No I/O, no clock."""
