"""``python -m reldep`` is the command ``reldep``."""

import sys

from reldep.cli import main

if __name__ == "__main__":
    sys.exit(main())
