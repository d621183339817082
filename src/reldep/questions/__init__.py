"""Questions: the public functions, each in four steps — read, compute A, estimate, answer."""

# What every question asks, with a place for each of its variables, in the order in which help and
# forms list them. They stand here, apart from the functions in the modules of the same names, so
# that help can be printed without loading NumPy.
SENTENCES = {
    "compare": "Is {source} more closely related to {first} or to {second}?",
    "rank": "To which of {targets} is {source} most closely related?",
    "contrast": "Does the weighted sum of dependences {weights} differ from 0?",
    "dependence": "Are {x} and {y} related, and how closely?",
    "groups": "Are {x} and {y} more closely related in one group of {by} than in another?",
    "matrix": "How closely is each pair of {variables} related?",
    "scan": "Which of {sources} are more closely related to {first}, and which to {second}?",
    "sensitivity": (
        "Does the bandwidth decide whether {source} is more closely related to {first} or to "
        "{second}?"
    ),
}

# A command line that asks each question.
EXAMPLES = {
    "compare": (
        "reldep compare mice.csv --source diet --first 'lipids=C*' --second 'genes=gene_*'"
    ),
    "rank": "reldep rank mice.csv --source diet --targets 'C*'",
    "contrast": "reldep contrast t.csv --weight 'x~y=1' --weight 'x~z=1' --weight 'x~v=-2'",
    "dependence": "reldep dependence mice.csv --x diet --y 'lipids=C*'",
    "groups": "reldep groups mice.csv --x 'lipids=C*' --y 'genes=gene_*' --by genotype",
    "matrix": "reldep matrix mice.csv --variables 'C*'",
    "scan": "reldep scan mice.csv --sources 'gene_*' --first diet --second genotype",
    "sensitivity": (
        "reldep sensitivity mice.csv --source diet --first 'lipids=C*' --second 'genes=gene_*'"
    ),
}
