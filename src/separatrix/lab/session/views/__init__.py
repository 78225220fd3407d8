"""What is to be drawn, one view a file: pure functions of a state, a pane and a step to records of arrays."""
