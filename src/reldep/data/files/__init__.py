"""Files: how each kind is opened, read and checked, until it is a table of columns."""
