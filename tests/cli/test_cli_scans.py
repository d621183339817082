"""Scans on the command line: both forms give the library's answers."""

from __future__ import annotations

import reldep


def genes_of(mice):
    return mice.select([name for name in mice.columns if name.startswith("gene_")])


def test_many_sources_and_two_targets(ask, mice):
    said = ask("scan", "mice.csv", "--sources", "gene_*", "--first", "diet", "--second", "genotype")
    expected = reldep.scan(genes_of(mice), mice["diet"], mice["genotype"])
    assert said.status == 0
    assert said.out.splitlines()[0] == expected.sentence()


def test_one_source_and_many_targets(ask, mice):
    said = ask("scan", "mice.csv", "--source", "diet", "--targets", "gene_*")
    assert said.status == 0
    assert said.out.splitlines()[0] == reldep.scan(mice["diet"], genes_of(mice)).sentence()


def test_a_scan_needs_targets(ask):
    said = ask("scan", "mice.csv", "--source", "diet")
    assert said.status == 2
    assert "Missing option '--first' / '--targets'" in " ".join(said.err.split())
