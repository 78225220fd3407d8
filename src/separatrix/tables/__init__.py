"""From a file, a frame or a demo to typed columns, and from those to features and target."""
