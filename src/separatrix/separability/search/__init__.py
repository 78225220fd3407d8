"""The search for separating vectors and for proofs that there are none."""
