"""Questions: the public functions, each in four steps — read, compute A, estimate, answer."""

# What every question asks, with a place for each of its slots, in the order in which help and forms
# list them. They stand here, apart from the declarations beside the functions, so that help can be
# printed without loading NumPy. A question is declared in the module of its name.
SENTENCES = {
    "compare": "Is {source} more closely related to {first} or to {second}?",
    "rank": "To which of {targets} is {source} most closely related?",
    "contrast": "Does the weighted sum of dependences {weight} differ from 0?",
    "dependence": "Are {x} and {y} related, and how closely?",
    "groups": "Are {x} and {y} more closely related in one group of {by} than in another?",
    "matrix": "How closely is each pair of {variables} related?",
    "scan": "Which of {sources} are more closely related to {first}, and which to {second}?",
    "sensitivity": (
        "Does the bandwidth decide whether {source} is more closely related to {first} or to "
        "{second}?"
    ),
}
