"""The page in the browser: drop a file, pick the columns, read the answer.

The server does no reading and no computing itself. A child process with a memory limit and a
deadline does, one for each session, so that a hostile file or a cancelled job takes nothing down.
"""
