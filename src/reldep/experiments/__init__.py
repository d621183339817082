"""The program's own demonstrations and the paper's figures and tables."""
