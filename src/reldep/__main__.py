"""``python -m reldep`` is the command ``reldep``."""

from reldep.cli import main

if __name__ == "__main__":
    main()
