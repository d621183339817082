"""The numbers of nested values, to be compared one by one."""


def flat(value, left_out, place=""):
    """Yield every number with its place; not those below the keys that are left out."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in left_out:
                yield from flat(part, left_out, f"{place}/{key}")
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from flat(part, left_out, f"{place}/{i}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield place, value
