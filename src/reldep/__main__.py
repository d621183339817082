"""``python -m reldep`` is the command ``reldep``."""

import sys

if not sys.flags.safe_path and __name__ == "__main__":
    # Python puts the current folder first, where a file may be called like a module.
    del sys.path[0]

from reldep.cli import main

if __name__ == "__main__":
    sys.exit(main())
