"""Compiled inner loops: algorithms that visit rows, columns or pairs one at a time."""
