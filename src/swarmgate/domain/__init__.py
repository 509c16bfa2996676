"""The words and the laws of swarmgate: frozen records, the event union, `fold`, `next_step`. No I/O, no clock."""
