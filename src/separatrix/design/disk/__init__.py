"""Rows on disk: written once as binary blocks, read block by block in every pass, under a cap of memory."""
