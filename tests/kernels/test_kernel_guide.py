"""The guide to kernels is complete, and its table tells the truth."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from reldep import kernels

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "kernels.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def table_rows():
    rows = re.findall(r"^\| [^|]+ \| `(\w+)\((.*?)\)` \|[^|]*\| (yes|no)[^|]*\|", TEXT, flags=re.M)
    assert len(rows) > 12
    return rows


@pytest.mark.parametrize(("name", "arguments", "answer"), table_rows())
def test_the_table_agrees_with_is_characteristic(name, arguments, answer):
    values = {
        "": (),
        "degree": (2,),
        "k": (3,),
        "h": (3,),
        "period": (24,),
        "function": (np.abs,),
        "order": ("ab",),
    }
    given = values.get(arguments, (arguments.strip('"'),))
    kernel = getattr(kernels, name)(*given)
    assert kernel.is_characteristic == (answer == "yes")


def test_every_kernel_is_in_the_guide():
    missing = [name for name in kernels.__all__ if name not in TEXT]
    assert missing == ["FittedKernel", "KernelReport", "Product", "Sum"]
