"""What an installed package must be able to do: ``pytest --pyargs reldep.tests``.

A minute's check of an installation. The whole suite is in the source tree.
"""
