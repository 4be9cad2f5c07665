"""Where radlc differs from EC3 on purpose, because EC3 is at fault. docs/decisions/0007-ec3-dialect.md has the reasons."""
import re

# What EC3 says, of sets that radlc takes.
REFUSED_BY_EC3 = [
    re.compile(r"Url not valid: \w+://\w"),  # image addresses of clouds that are newer than EC3's list
]


def is_known(problem, ours):
    if problem.startswith("only EC3 refuses: "):
        return any(pattern.search(problem) for pattern in REFUSED_BY_EC3)
    return False
