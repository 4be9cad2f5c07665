"""What Microsoft says of Azure's API, as its own libraries for Python have it, which are generated from the API's descriptions: each request's
method, path, version, query, headers and the model of its body; each model's fields, their types, which are read-only, required, or of
known values. They are not part of this project: they are brought from PyPI, pinned by their digests, and what is read from them is
kept in RADL_AZURE_CACHE (/var/tmp/radl-azure).
"""
import ast
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import urllib.parse
import urllib.request
import zipfile

# What is taken of each: its versions of the API.
WHEELS = {
    "azure-mgmt-compute==34.1.0": ("compute/v2024_11_01", "compute/v2024_03_02", "compute/v2021_07_01"),
    "azure-mgmt-network==28.1.0": ("network",),
    "azure-mgmt-resource==23.2.0": ("resource/resources/v2022_09_01", "resource/subscriptions/v2022_12_01"),
}
READ_BY = 3  # of this file: what it reads out of them


class Unavailable(Exception):
    """Why there are no descriptions."""


class Violation(Exception):
    """A request that the descriptions do not allow."""


def _download(wanted, digest, folder):
    name, _, version = wanted.partition("==")
    path = pathlib.Path(folder) / f"{name}.whl"
    try:
        listed = urllib.request.Request(f"https://pypi.org/simple/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
        with urllib.request.urlopen(listed, timeout=60) as answer:
            file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
            wheel = next(urllib.parse.urljoin(listed.full_url, one["url"]) for one in json.load(answer)["files"] if one["filename"] == file)
        with urllib.request.urlopen(wheel, timeout=120) as answer, open(path, "wb") as made:
            shutil.copyfileobj(answer, made)
    except (OSError, ValueError, StopIteration) as error:
        raise Unavailable(f"the descriptions of Azure's API cannot be had: {wanted} of PyPI: {error}") from error
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise Unavailable(f"{wanted} is not the one that the tests were written for (its SHA-256 differs)")
    return path


def _operations(text):
    """[{name, method, path, version, query, headers, body}]"""
    found, body = {}, {}
    for match in re.finditer(r"^def build_(\w+)_request\(.*?(?=^def |^class |\Z)", text, re.S | re.M):
        part = match[0]
        path = re.search(r'"template_url",\s*"([^"]+)"', part) or re.search(r'_url = "([^"]+)"', part)
        method = re.search(r'HttpRequest\(method="(\w+)"', part)
        version = re.search(r'"api-version", "([\d-]+)"', part)
        if path and method and version:
            found[match[1]] = {"name": match[1], "method": method[1], "path": path[1], "version": version[1],
                               "query": re.findall(r'_params\["([^"]+)"\]', part), "headers": re.findall(r'_headers\["([^"]+)"\]', part)}
    model = None
    for match in re.finditer(r'_serialize\.body\(\w+, "([^"]+)"\)|= build_(\w+)_request\(|^    def ', text, re.M):
        if match[1]:
            model = match[1]
        elif match[2]:
            body.setdefault(match[2], model)
        else:
            model = None
    return [{**one, "body": body.get(name)} for name, one in found.items()]


def _known_values(doc):
    """field -> values, where the documentation says which there are."""
    found = {}
    for part in re.split(r":ivar |:vartype ", " ".join((doc or "").split()))[1:]:
        name, _, text = part.partition(":")
        # The list of machine sizes is an old one, as its documentation says.
        if "Known values are:" in text and "deprecated" not in text:
            found[name] = re.findall(r'"([^"]+)"', text.split("Known values are:")[1])
    return found


def _models(text):
    """class -> {wire path: {type, readonly, required, constant, values}}"""
    found = {}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef):
            continue
        maps = {}
        for item in node.body:
            if isinstance(item, ast.Assign) and getattr(item.targets[0], "id", "") in ("_attribute_map", "_validation"):
                maps[item.targets[0].id] = ast.literal_eval(item.value)
        if "_attribute_map" not in maps:
            continue
        values, checks = _known_values(ast.get_docstring(node)), maps.get("_validation", {})
        found[node.name] = {field["key"]: {"type": field["type"], "readonly": bool(checks.get(name, {}).get("readonly")),
                                           "required": bool(checks.get(name, {}).get("required")), "values": values.get(name)}
                            for name, field in maps["_attribute_map"].items()}
    return found


def _read(archive, folder):
    root = f"azure/mgmt/{folder}"
    names = [name for name in archive.namelist() if name.startswith(root + "/operations/") and name.endswith(".py")]
    operations = [one for name in names for one in _operations(archive.read(name).decode())]
    return {"operations": operations, "models": _models(archive.read(f"{root}/models/_models_py3.py").decode())}


def documents():
    """{folder: {operations, models}}, or Unavailable."""
    keep = pathlib.Path(os.environ.get("RADL_AZURE_CACHE", "/var/tmp/radl-azure"))
    digests = dict(line.split() for line in (pathlib.Path(__file__).parent / "wheels.sha256").read_text().splitlines() if line)
    key = hashlib.sha256(json.dumps([digests, READ_BY, WHEELS]).encode()).hexdigest()[:16]
    kept = keep / f"descriptions-{key}.json"
    if not kept.exists():
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for wanted, folders in WHEELS.items():
                with zipfile.ZipFile(_download(wanted, digests[wanted], folder)) as archive:
                    found |= {one: _read(archive, one) for one in folders}
        keep.mkdir(parents=True, exist_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        made.write_text(json.dumps(found))
        made.replace(kept)
    return json.loads(kept.read_text())


class Descriptions:
    def __init__(self, texts):
        self.models = {folder: text["models"] for folder, text in texts.items()}
        self.operations = []
        for folder, text in texts.items():
            for one in text["operations"]:
                # Providers and types in any letters, as Azure takes them.
                pattern = re.sub(r"\\\{(\w+)\\\}", lambda m: f"(?P<{m[1]}>[^/]+)", re.escape(one["path"]))
                self.operations.append((one["method"], re.compile(pattern + "$", re.I), one["version"], folder, one))
        # What has a word of its own in the path before what has a parameter there.
        self.operations.sort(key=lambda one: one[4]["path"].count("{"))

    def find(self, method, path, version):
        """(operation, folder, path parameters)"""
        versions = set()
        for verb, pattern, there, folder, one in self.operations:
            match = pattern.match(path) if verb == method else None
            if match and there == version:
                return one, folder, {name: urllib.parse.unquote(value) for name, value in match.groupdict().items()}
            if match:
                versions.add(there)
        raise Violation(f"{method} {path}: there is no such request in version {version}" + (f", but in {sorted(versions)}" if versions else ""))

    def check(self, operation, folder, query, headers, body):
        name = operation["name"]
        for word in query:
            if word not in operation["query"]:
                raise Violation(f"{name} has no parameter {word}")
        for word in ("If-Match", "If-None-Match"):
            if word.lower() in headers and word not in operation["headers"]:
                raise Violation(f"{name} takes no {word}")
        if operation["body"] is None:
            if body is not None:
                raise Violation(f"{name} takes no body")
            return
        if body is None:
            raise Violation(f"{name}: a body is missing")
        self._model(folder, operation["body"], body, operation["body"])

    def _model(self, folder, model, value, where):
        if not isinstance(value, dict):
            raise Violation(f"{where} = {value!r} is no object")
        self._fields(folder, self.models[folder][model], value, where, "")
        for key, field in self.models[folder][model].items():
            inner = value
            for part in self._parts(key):
                inner = inner.get(part) if isinstance(inner, dict) else None
            # Of what stands in "properties" of a model that is there in part (a link to it) nothing is asked.
            if field["required"] and not field["readonly"] and inner is None and "." not in key:
                raise Violation(f"{where}.{key} is missing")

    @staticmethod
    def _parts(key):
        return [part.replace("\\.", ".") for part in re.split(r"(?<!\\)\.", key)]

    def _fields(self, folder, fields, value, where, prefix):
        for name, item in value.items():
            key = prefix + name.replace(".", "\\.")
            if key in fields:
                self._field(folder, fields[key], item, f"{where}.{name}")
            elif isinstance(item, dict) and any(other.startswith(key + ".") for other in fields):
                self._fields(folder, fields, item, f"{where}.{name}", key + ".")
            else:
                raise Violation(f"{where} has no field {name}")

    def _field(self, folder, field, value, where):
        if field["readonly"]:
            raise Violation(f"{where} is only in answers")
        if field["values"] and isinstance(value, str) and value.lower() not in [one.lower() for one in field["values"]]:
            raise Violation(f"{where} = {value!r} is none of {field['values']}")
        self._type(folder, field["type"], value, where)

    def _type(self, folder, kind, value, where):
        simple = {"str": str, "int": int, "long": int, "bool": bool, "float": (int, float), "object": object, "bytearray": str, "iso-8601": str}
        if kind.startswith("["):
            if not isinstance(value, list):
                raise Violation(f"{where} = {value!r} is no list")
            for number, item in enumerate(value):
                self._type(folder, kind[1:-1], item, f"{where}[{number}]")
        elif kind.startswith("{"):
            if not isinstance(value, dict):
                raise Violation(f"{where} = {value!r} is no object")
            for name, item in value.items():
                self._type(folder, kind[1:-1], item, f"{where}.{name}")
        elif kind in simple:
            if not isinstance(value, simple[kind]) or (isinstance(value, bool) and kind in ("int", "long", "float")):
                raise Violation(f"{where} = {value!r} is no {kind}")
        elif kind in self.models[folder]:
            self._model(folder, kind, value, where)
