"""Files and data frames as tables: ``reldep.read``."""
