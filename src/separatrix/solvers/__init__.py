"""One algorithm per module, each a generator of steps over a problem."""
