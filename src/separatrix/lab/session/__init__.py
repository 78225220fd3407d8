"""The lab without a page: states, actions on them, histories of learners, and what is to be drawn of them."""
