"""One suite a results file: its measurements, each a function of `quick` that returns what it found."""
