"""The figures of a pane, one view a file: made once, then only their data change."""
