"""The calls that docs/providers/openstack.md lists, and those that are made."""
import re

from radl_case import SOURCE

# The page's words for services and for what stands in the paths of calls.
SERVICES = {"identity": "Keystone", "compute": "Nova", "network": "Neutron", "image": "Glance", "volumev3": "Cinder"}
WORDS = {"os-keypairs": "key pairs", "os-server-groups": "server groups", "os-availability-zone": "availability zones", "floatingips": "floating addresses",
         "security-groups": "security groups", "security-group-rules": "their rules", "add_router_interface": "router's interfaces",
         "remove_router_interface": "router's interfaces"}


def undocumented(requests):
    """(service, call) of requests that the page does not list."""
    page = (SOURCE / "docs/providers/openstack.md").read_text().split("### Permissions")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| (\w+) \| (.*) \|$", page, re.MULTILINE))
    missing = []
    for service, call in sorted({(request.service, request.action) for request in requests if request.service in SERVICES}):
        verb, path = call.split(" ", 1)
        parts = path.strip("/").split("/")
        if parts == [""]:
            continue  # which versions there are: asked without credentials
        action = path.partition("/action:")[2]
        word = parts[-1] if parts[-1] in WORDS else parts[0]
        segments = [one for one in rows[SERVICES[service]].split("; ") if f"`{verb}`" in one or f"`{call}`" in one]
        if not any((f"`{action}`" in one) if action else (f"`{call}`" in one or WORDS.get(word, word) in one) for one in segments):
            missing.append((SERVICES[service], call))
    return missing
