"""Questions: the public functions, each in four steps — read, compute A, estimate, answer."""
