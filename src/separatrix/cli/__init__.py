"""The command line, one file per verb. Verbs import what they need when called, so that help is immediate."""
