"""From typed columns to the matrix of a design, decided once in training and applied alike ever after."""
