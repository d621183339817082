"""Objects as named variables with kinds and rows; strings as numbers, dates and labels."""
