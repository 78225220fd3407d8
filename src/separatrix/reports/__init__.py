"""Fits as text, HTML pages and plots."""
