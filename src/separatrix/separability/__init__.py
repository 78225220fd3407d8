"""Whether classes can be separated, with proof; existence of maximum likelihood, and the widest margin."""
