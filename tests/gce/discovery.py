"""Google's machine-readable description of the Compute Engine API, and the check of a request against it.

The document is not part of this project: it is brought from the module proxy of Go, where Google's own client for Go has it, pinned by its
digest, and kept in RADL_GCE_CACHE (/var/tmp/radl-gce).
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
import zipfile

MODULE, VERSION = "google.golang.org/api", "v0.200.0"
INSIDE = f"{MODULE}@{VERSION}/compute/v1/compute-api.json"
DIGEST = "2fc4599fc517d3896433941a021488074a7ba22286a27bf547fd1a63c17ef669"
URL = f"https://proxy.golang.org/{MODULE}/@v/{VERSION}.zip"


class Unavailable(Exception):
    """Why there is no description."""


def _kept():
    return pathlib.Path(os.environ.get("RADL_GCE_CACHE", "/var/tmp/radl-gce")) / f"compute-{VERSION}.json"


def _archive(folder):
    if shutil.which("go"):
        made = subprocess.run(["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"], capture_output=True, text=True, timeout=300, cwd="/")
        if made.returncode == 0:
            return json.loads(made.stdout)["Zip"]
    path = folder / "api.zip"
    try:
        with urllib.request.urlopen(URL, timeout=120) as answer, open(path, "wb") as file:
            shutil.copyfileobj(answer, file)
    except OSError as error:
        raise Unavailable(f"the description of Compute Engine's API cannot be had: {URL}: {error}") from error
    return path


def document():
    """The description, or Unavailable."""
    kept = _kept()
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            with zipfile.ZipFile(_archive(kept.parent)) as archive:
                text = archive.read(INSIDE)
        except (OSError, KeyError, ValueError, zipfile.BadZipFile, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"the description of Compute Engine's API cannot be had: {error}") from error
        finally:
            (kept.parent / "api.zip").unlink(missing_ok=True)
        if hashlib.sha256(text).hexdigest() != DIGEST:
            raise Unavailable(f"{INSIDE} is not the one that the tests were written for (its SHA-256 differs)")
        made = kept.with_suffix(f".{os.getpid()}")
        made.write_bytes(text)
        made.replace(kept)
    text = kept.read_bytes()
    if hashlib.sha256(text).hexdigest() != DIGEST:
        raise Unavailable(f"{kept} has changed: remove it")
    return json.loads(text)


class Violation(Exception):
    """A request that the description does not allow."""


class Description:
    def __init__(self, text):
        self.schemas, self.common = text["schemas"], text["parameters"]
        self.prefix = "/" + text["servicePath"]
        self.methods = []
        for resource in text["resources"].values():
            for method in resource.get("methods", {}).values():
                path = re.sub(r"\\\{(\w+)\\\}", lambda m: f"(?P<{m[1]}>[^/]+)", re.escape(method["path"]))
                self.methods.append((method["httpMethod"], re.compile(path + "$"), method))
        # What has a word of its own in the path before what has a parameter there.
        self.methods.sort(key=lambda one: one[2]["path"].count("{"))

    def find(self, verb, path):
        """(method, path parameters); Violation: there is no such method."""
        if not path.startswith(self.prefix):
            raise Violation(f"{path} is not of the API")
        rest = path[len(self.prefix):]
        for http, pattern, method in self.methods:
            match = pattern.match(rest)
            if match and http == verb:
                return method, {name: urllib.parse.unquote(value) for name, value in match.groupdict().items()}
        raise Violation(f"there is no method {verb} {path}")

    def check(self, method, parameters, query, body):
        for name, value in parameters.items():
            pattern = method["parameters"][name].get("pattern")
            if pattern and not re.fullmatch(pattern, value):
                raise Violation(f"{method['id']}: {name} = {value!r} does not match {pattern}")
        known = {n: p for n, p in method["parameters"].items() if p["location"] == "query"}
        for name, value in query.items():
            if name not in known and name not in self.common:
                raise Violation(f"{method['id']} has no parameter {name}")
            self._text({**self.common, **known}[name], value, name)
        for name, one in known.items():
            if one.get("required") and name not in query:
                raise Violation(f"{method['id']}: {name} is missing")
        wanted = method.get("request", {}).get("$ref")
        if wanted and body is None:
            raise Violation(f"{method['id']}: a body is missing")
        if not wanted and body is not None:
            raise Violation(f"{method['id']} takes no body")
        if wanted:
            self._value({"$ref": wanted}, body, wanted, method["id"])

    def _text(self, schema, value, name):
        kind = schema["type"]
        right = {"integer": re.fullmatch(r"-?\d+", value), "boolean": value in ("true", "false")}.get(kind, True)
        if not right:
            raise Violation(f"{name} = {value!r} is no {kind}")

    def _value(self, schema, value, where, method):
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"]]
        kind = schema.get("type", "object")
        types = {"string": str, "integer": int, "boolean": bool, "number": (int, float), "array": list, "object": dict}
        if kind != "any" and (not isinstance(value, types[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
            raise Violation(f"{where} = {value!r} is no {kind}")
        if kind == "string":
            if schema.get("format") in ("int64", "uint64") and not re.fullmatch(r"-?\d+", value):
                raise Violation(f"{where} = {value!r} is no {schema['format']}")
            if "enum" in schema and value not in schema["enum"]:
                raise Violation(f"{where} = {value!r} is none of {schema['enum']}")
            if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
                raise Violation(f"{where} = {value!r} does not match {schema['pattern']}")
        elif kind == "array":
            for number, item in enumerate(value):
                self._value(schema["items"], item, f"{where}[{number}]", method)
        elif kind == "object":
            self._object(schema, value, where, method)

    def _object(self, schema, value, where, method):
        known = schema.get("properties", {})
        for name, item in value.items():
            if name in known:
                if known[name].get("description", "").startswith("[Output Only]") or known[name].get("readOnly"):
                    raise Violation(f"{where}.{name} is only in answers")
                self._value(known[name], item, f"{where}.{name}", method)
            elif "additionalProperties" in schema:
                self._value(schema["additionalProperties"], item, f"{where}.{name}", method)
            else:
                raise Violation(f"{where} has no field {name}")
        for name, one in known.items():
            if method in one.get("annotations", {}).get("required", ()) and name not in value:
                raise Violation(f"{where}.{name} is missing")
