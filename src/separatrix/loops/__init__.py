"""Compiled inner loops: what must touch rows one at a time."""
