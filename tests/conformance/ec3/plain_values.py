"""What both sides of the comparison make of YAML."""


def plain(value):
    """YAML's values as JSON has them, without losing which they were."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else "%s:%s" % (type(key).__name__, key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return "%s:%s" % (type(value).__name__, value)
