"""The page: draws the views of a session and turns what a person does into its actions. It decides nothing itself."""
