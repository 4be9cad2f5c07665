"""Where radlc differs from EC3 on purpose, because EC3 is at fault. docs/decisions/0007-ec3-dialect.md has the reasons."""
import re

# What EC3 says, of sets that radlc takes.
REFUSED_BY_EC3 = [
    re.compile(r"Url not valid: \w+://\w"),  # image addresses of clouds that are newer than EC3's list
    re.compile(r"'tuple' object has no attribute 'value'"),  # bounds of a version
]


# What radlc says, of sets that EC3 takes.
REFUSED_BY_RADLC = [
    re.compile(r"is a group: it has no one value"),  # EC3 gives the text of a Python object
    re.compile(r"error\[E0306\]: `[\w.]+` takes `=`"),  # of a string, which EC3 makes `=` without a word
]


def is_known(problem):
    if problem.startswith("only EC3 refuses: "):
        return any(pattern.search(problem) for pattern in REFUSED_BY_EC3)
    if problem.startswith("only radlc refuses: "):
        return any(pattern.search(problem) for pattern in REFUSED_BY_RADLC)
    return False
