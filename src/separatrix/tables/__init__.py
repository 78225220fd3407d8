"""Tables: files, frames and demos read as typed columns."""
