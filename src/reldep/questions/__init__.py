"""Questions: the public functions, each in four steps — read, compute A, estimate, answer."""

# What every question asks, with a place for each of its slots, in the order in which help and forms
# list them. They stand here, apart from the declarations beside the functions, so that help can be
# printed without loading NumPy. A question is declared in the module of its name.
SENTENCES = {
    "compare": "Does {source} depend more on {first} than on {second}?",
    "rank": "On which of {targets} does {source} depend most?",
    "contrast": "Is {weight} positive?",
    "dependence": "How strong is the dependence of {x} and {y}, and is there any?",
    "groups": "Is the dependence of {x} and {y} the same in all groups of {by}?",
    "matrix": "How strongly do all of {variables} depend on each other?",
    "scan": "Which of {sources} depend more on {first} than on {second}?",
    "sensitivity": (
        "Does it depend on the bandwidth whether {source} depends more on {first} than on {second}?"
    ),
}
