"""Tables of inference as text and as HTML, made of their records alone."""
