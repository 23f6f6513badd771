"""Read widgets, call the engine, draw. No arithmetic, no SQL, no threads, no torch."""
