"""Claims with proofs, and the checkers that verify them; they never import a solver."""
