"""Print the packages of one extra of pyproject.toml, for tools that do not need reldep itself."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main() -> None:
    """Print what the extra named on the command line asks for, a line each."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    print("\n".join(project["optional-dependencies"][sys.argv[1]]))


if __name__ == "__main__":
    main()
