"""The guide to kernels runs as it is written, and its table tells the truth."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from reldep import kernels

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "kernels.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def test_the_examples_of_the_guide_run_from_top_to_bottom(monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(blocks) >= 6
    module = ModuleType("kernel_guide")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), module.__dict__)  # noqa: S102


def table_rows():
    rows = re.findall(r"^\| [^|]+ \| `(\w+)\((.*?)\)` \|[^|]*\| (yes|no)[^|]*\|", TEXT, flags=re.M)
    assert len(rows) > 12
    return rows


@pytest.mark.parametrize(("name", "arguments", "answer"), table_rows())
def test_the_table_agrees_with_is_characteristic(name, arguments, answer):
    values = {"": (), "degree": (2,), "k": (3,), "h": (3,), "period": (24,), "function": (np.abs,)}
    given = values.get(arguments, (arguments.strip('"'),))
    kernel = getattr(kernels, name)(*given)
    assert kernel.is_characteristic == (answer == "yes")


def test_every_kernel_is_in_the_guide():
    missing = [name for name in kernels.__all__ if name not in TEXT]
    assert missing == ["FittedKernel", "KernelReport", "Product", "Sum"]
