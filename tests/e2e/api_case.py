"""Requests of the own API whose answers are compared with their description, docs/openapi.json."""
import json

from page_case import SOURCE, PageCase

DOCUMENT = json.loads((SOURCE / "docs/openapi.json").read_text())
METHODS = ("get", "post", "put", "delete")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def operations(under="/v1"):
    """Of the own API, or with "" those of accounts."""
    for path, item in DOCUMENT["paths"].items():
        if path.startswith("/v1/") != bool(under):
            continue
        for method in METHODS:
            if method in item:
                yield method.upper(), path.removeprefix(under), item[method]


def resolve(part):
    while "$ref" in part:
        place = DOCUMENT
        for name in part["$ref"].removeprefix("#/").split("/"):
            place = place[name]
        part = place
    return part


def mismatch(value, schema, where="the body"):
    """Where a value is not as a schema of the document says; None: nowhere."""
    schema = resolve(schema)
    for part in schema.get("allOf", ()):
        if wrong := mismatch(value, part, where):
            return wrong
    if "anyOf" in schema:
        wrong = [mismatch(value, part, where) for part in schema["anyOf"]]
        if all(wrong):
            return wrong[0]
    kinds = schema.get("type")
    if kinds:
        kinds = [kinds] if isinstance(kinds, str) else kinds
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not any(number and (kind == "number" or isinstance(value, int)) if kind in ("number", "integer")
                   else isinstance(value, TYPES[kind]) for kind in kinds):
            return f"{where} is {value!r}, not {kinds}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r}, not one of {schema['enum']}"
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                return f"{where} has no {name}: {value}"
        for name, part in schema.get("properties", {}).items():
            if name in value and (wrong := mismatch(value[name], part, f"{where}.{name}")):
                return wrong
    if isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            if wrong := mismatch(one, schema["items"], f"{where}[{i}]"):
                return wrong
    return None


class ApiCase(PageCase):
    def setUp(self):
        self.seen = set()
        super().setUp()

    def ask(self, method, path, body=None, **headers):
        """As PageCase.ask, and compares the answer with the document."""
        status, content, sent = super().ask(method, path, body, **headers)
        for its_method, its_path, operation in operations():
            parts, given = its_path.split("/"), path.partition("?")[0].split("/")
            rest = parts[-1] == "{path}" and len(given) >= len(parts)
            if its_method != method or not (len(parts) == len(given) or rest):
                continue
            if not all(p.startswith("{") or p == g for p, g in zip(parts, given)):
                continue
            self.assertIn(str(status), operation["responses"], f"{method} {path}: {content}")
            self.seen.add((method, its_path, status))
            types = resolve(operation["responses"][str(status)]).get("content", {})
            kind = sent.get_content_type()
            if types:
                self.assertIn(kind, types, f"{method} {path}")
            if kind == "application/json" and types:
                self.assertIsNone(mismatch(content, types[kind]["schema"]), f"{method} {path}")
            break
        return status, content, sent

    def as_user(self, user, scope):
        """Headers of a request with a new token of the user."""
        return {"Authorization": f"Bearer {self.issue(user, scope)}"}
