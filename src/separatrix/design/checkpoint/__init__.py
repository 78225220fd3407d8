"""Fits that go on where they were killed: what passes over the rows gave, kept in a journal and found again."""
