"""Many lengths, one server: which lengths and requests to measure, and what came of them length by length. No torch."""
