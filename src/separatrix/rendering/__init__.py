"""Tables as text and HTML, made from neutral records."""
