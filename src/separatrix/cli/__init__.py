"""The command line: one file a verb. Verbs import what they need when called, so that help comes at once."""
