"""Models of tables: trained, saved and loaded, used for predictions, exported."""
