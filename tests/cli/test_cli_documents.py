"""The guide to the command line says all that there is to say."""

from __future__ import annotations

import json
import re
from importlib import resources

from cli.conftest import ROOT

GUIDE = ROOT / "docs" / "guide" / "command-line.md"


def test_every_field_of_the_json_is_documented():
    schema = json.loads(resources.files("reldep.cli").joinpath("result.schema.json").read_text())
    table = GUIDE.read_text().partition("## JSON")[2]
    assert set(schema["properties"]) <= set(re.findall(r"`(\w+)`", table))
