"""Permissions of docs/providers/gce.md, and those that calls need."""
from radl_case import SOURCE

WORDS = {"insert": "create", "aggregatedList": "list", "getFromFamily": "useReadOnly", "patch": "update", "resize": "update"}


def undocumented(methods):
    """What the methods of Compute Engine ("instances.insert") need and the page does not list."""
    page = (SOURCE / "docs/providers/gce.md").read_text()
    listed = {word.strip("`") for word in page.split("## Permissions")[1].split("\n## ")[0].split() if word.startswith("`compute.")}
    needed = set()
    for method in methods:
        collection, action = method.split(".")
        if collection.endswith("Operations"):
            continue
        if collection == "regionNetworkFirewallPolicies":
            collection, action = "networks", action.replace("get", "getRegion")
        if collection == "images":
            action = "get" if action == "get" else "getFromFamily"
        needed.add(f"compute.{collection}.{WORDS.get(action, action)}")
    return sorted(needed - listed)
