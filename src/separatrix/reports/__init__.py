"""Fits as text, HTML pages and pictures."""
