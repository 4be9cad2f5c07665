"""What EC2 has and moto lacks, answered by the proxy: console output with host keys, placement groups, idempotent client tokens."""
import base64
import threading
import uuid
import xml.sax.saxutils

from proxy import Answer, ec2_error

SPACE = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'
TAGGED = "TagSpecification.1.Tag."
# After these a machine begins, ends, or is to be reached elsewhere.
OF_MACHINES = ("RunInstances", "StartInstances", "StopInstances", "TerminateInstances", "AssociateAddress", "DisassociateAddress",
               "ReleaseAddress")


def answer(action, inside):
    return Answer.xml(f'<?xml version="1.0" encoding="UTF-8"?>\n<{action}Response {SPACE}><requestId>{uuid.uuid4()}</requestId>'
                      f"{inside}</{action}Response>")


def tags_in(request):
    tags, k = {}, 1
    while f"{TAGGED}{k}.Key" in request.parameters:
        tags[request.parameters[f"{TAGGED}{k}.Key"]] = request.parameter(f"{TAGGED}{k}.Value")
        k += 1
    return tags


class Extras:
    def __init__(self, machines=None, tokens=True):
        self.machines, self.tokens = machines, tokens
        self.groups = {}  # placement groups: name -> (strategy, tags)
        self.lacking = set()  # actions that moto answers itself: most of these as it answers what it does not know
        self.forward = None  # set by whoever makes the proxy
        self._launched = {}  # client token -> (parameters, answer)
        self._lock = threading.Lock()

    def __call__(self, request):
        if request.service != "ec2":
            return None
        known = {"GetConsoleOutput": self._console, "CreatePlacementGroup": self._create, "DeletePlacementGroup": self._delete,
                 "DescribePlacementGroups": self._describe, "RunInstances": self._run}.get(request.action)
        if request.action in ("CreateTags", "DeleteTags") and request.parameter("ResourceId.1", "").startswith("pg-"):
            known = self._tag
        if not known or request.action in self.lacking or request.parameter("DryRun") == "true":
            return None
        return known(request)

    def acted(self, request):
        """The server has acted on it."""
        if self.machines and request.service == "ec2" and request.action in OF_MACHINES:
            self.machines.news()

    def _console(self, request):
        name = request.parameter("InstanceId")
        text = base64.b64encode(self.machines.console(name).encode()).decode() if self.machines else ""
        return answer("GetConsoleOutput", f"<instanceId>{name}</instanceId><timestamp>2026-01-01T00:00:00.000Z</timestamp>"
                      f"<output>{text}</output>")

    def _create(self, request):
        name = request.parameter("GroupName")
        with self._lock:
            if name in self.groups:
                return ec2_error("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.", 400)
            self.groups[name] = (request.parameter("Strategy", "cluster"), tags_in(request))
        return answer("CreatePlacementGroup", f"<return>true</return><placementGroup>{self._text(name)}</placementGroup>")

    def _tag(self, request):
        name = request.parameter("ResourceId.1").removeprefix("pg-")
        keys = [v for k, v in request.parameters.items() if k.startswith("Tag.") and k.endswith(".Key")]
        values = {request.parameters[k]: request.parameter(k[:-3] + "Value") for k in request.parameters if k.startswith("Tag.") and k.endswith(".Key")}
        with self._lock:
            if name not in self.groups:
                return ec2_error("InvalidPlacementGroupId.NotFound", f"The placement group ID 'pg-{name}' does not exist", 400)
            tags = self.groups[name][1]
            for key in keys:
                tags.pop(key, None)
            if request.action == "CreateTags":
                tags.update(values)
        return answer(request.action, "<return>true</return>")

    def _delete(self, request):
        name = request.parameter("GroupName")
        with self._lock:
            if self.groups.pop(name, None) is None:
                return ec2_error("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.", 400)
        return answer("DeletePlacementGroup", "<return>true</return>")

    def _describe(self, request):
        names = {v for k, v in request.parameters.items() if k.startswith(("GroupName.", "GroupId."))}
        with self._lock:
            for name in names - set(self.groups) - {"pg-" + n for n in self.groups}:
                return ec2_error("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.", 400)
            chosen = [n for n in self.groups if (not names or {n, "pg-" + n} & names) and self._matches(n, request)]
            items = "".join(f"<item>{self._text(name)}</item>" for name in sorted(chosen))
        return answer("DescribePlacementGroups", f"<placementGroupSet>{items}</placementGroupSet>")

    def _matches(self, name, request):
        k = 1
        while key := request.parameter(f"Filter.{k}.Name"):
            values = {v for n, v in request.parameters.items() if n.startswith(f"Filter.{k}.Value.")}
            tags = self.groups[name][1]
            if key.startswith("tag:") and tags.get(key[4:]) not in values:
                return False
            if key == "tag-key" and not values & set(tags):
                return False
            if key == "group-name" and name not in values:
                return False
            k += 1
        return True

    def _text(self, name):
        strategy, tags = self.groups[name]
        quoted = xml.sax.saxutils.escape
        items = "".join(f"<item><key>{quoted(k)}</key><value>{quoted(v)}</value></item>" for k, v in sorted(tags.items()))
        return (f"<groupName>{quoted(name)}</groupName><groupId>pg-{quoted(name)}</groupId><strategy>{strategy}</strategy>"
                f"<state>available</state><tagSet>{items}</tagSet>")

    def _run(self, request):
        """The same token again: the same instances again, as AWS answers; another request with it is refused."""
        token = request.parameter("ClientToken")
        if not token or not self.tokens:
            return None
        asked = {k: v for k, v in request.parameters.items() if not k.startswith(("X-Amz", "Signature", "Timestamp"))}
        with self._lock:
            if token in self._launched:
                before, given = self._launched[token]
                if before != asked:
                    return ec2_error("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent with "
                                     "arguments used in previous request(s).", 400)
                return given
            given = self.forward(request)
            if given.status == 200:
                self._launched[token] = (asked, given)
            return given
