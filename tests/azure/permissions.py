"""Actions of docs/providers/azure-role.json, and those that calls need."""
import json

from radl_case import SOURCE

VERBS = {"GET": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete"}


def action_of(operation):
    """"Microsoft.Compute/disks/read" of an operation of the descriptions."""
    path, method = operation["path"], operation["method"]
    if "/providers/" not in path:
        kind = "Microsoft.Resources/subscriptions" + ("/resourceGroups" if "resourceGroupName" in path or path.lower().endswith("resourcegroups") else "")
        kind += "/resources" if path.endswith("/resources") else ""
        return f"{kind}/{VERBS[method]}"
    parts = path.split("/providers/")[1].split("/")
    words = [parts[0]] + [word for word in parts[1:] if not word.startswith("{")]
    return "/".join(words[:-1]) + f"/{words[-1]}/action" if method == "POST" else "/".join(words) + "/" + VERBS[method]


def undocumented(arm):
    """What the calls that were made need and the role does not allow."""
    operations = {one["name"]: one for *_, one in arm.descriptions.operations}
    allowed = {action.lower() for action in json.loads((SOURCE / "docs/providers/azure-role.json").read_text())["Actions"]}
    return sorted(action for action in {action_of(operations[name]) for name in arm.called} if action.lower() not in allowed)
