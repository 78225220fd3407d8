"""Python code that does what a pane shows."""
