"""mkdocs: the requests of radlc serve, from docs/openapi.json: reference/requests.md and reference/answers.md."""
import json
import pathlib

from mkdocs.structure.files import File

METHODS = ("get", "post", "put", "patch", "delete")
PAGES = {}  # name in the site -> text


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def type_text(schema):
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](answers.md#{name.lower()})"
    for joined in ("oneOf", "anyOf", "allOf"):
        if joined in schema:
            return " or ".join(type_text(one) for one in schema[joined])
    kind = schema.get("type", "any")
    if kind == "array":
        return "list of " + type_text(schema.get("items", {}))
    text = " or ".join(kind) if isinstance(kind, list) else kind
    if "enum" in schema:
        text = ", ".join(f"`{word}`" for word in schema["enum"])
    return text


def members(schema, required_word="required"):
    """A table of an object's members; members of members stand indented by their path."""
    rows = []

    def walk(part, prefix):
        for name, member in part.get("properties", {}).items():
            notes = [member.get("description", "")]
            if "default" in member:
                notes.append(f"default: `{json.dumps(member['default'])}`")
            elif required_word and name in part.get("required", []):
                notes.append(required_word)
            rows.append(f"| `{prefix}{name}` | {cell(type_text(member))} | {cell('; '.join(filter(None, notes)))} |")
            inner = member.get("items", {}) if member.get("type") == "array" else member
            walk(inner, f"{prefix}{name}[]." if member.get("type") == "array" else f"{prefix}{name}.")

    walk(schema, "")
    return "| Member | Type | Meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""


def parameters_text(parameters):
    rows = [f"| `{p['name']}` | {p['in']} | {cell(type_text(p.get('schema', {})))} | {cell(p.get('description', ''))} |" for p in parameters]
    return "| Parameter | In | Type | Meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n" if rows else ""


def body_text(content, heading):
    for kind, media in content.items():
        schema = media.get("schema", {})
        yield f"**{heading}** `{kind}`: {type_text(schema)}\n\n"
        table = members(schema)
        if table:
            yield table + "\n"
        if "example" in media:
            yield f"```json\n{json.dumps(media['example'], indent=2)}\n```\n\n"


def operation_text(path, method, operation, shared):
    yield f"## {method.upper()} {path}\n\n{operation['summary']}."
    if operation.get("x-scope"):
        yield f" Scope: `{operation['x-scope']}`."
    yield "\n\n"
    if "description" in operation:
        yield operation["description"] + "\n\n"
    yield parameters_text(shared + operation.get("parameters", []))
    yield from body_text(operation.get("requestBody", {}).get("content", {}), "Body")
    errors = []
    for status, answer in operation["responses"].items():
        if "$ref" in answer:
            errors.append(status)
            continue
        yield f"**Answer {status}**: {answer['description']}\n\n"
        yield from body_text(answer.get("content", {}), "Type")
    if errors:
        yield f"**Errors**: {', '.join(errors)}, each an [Error](answers.md#error).\n\n"


def requests_page(document):
    yield "# Requests of radlc serve\n\nThis page is made from [openapi.json](../openapi.json). "
    yield "[The API of radlc serve](../service-api.md) shows how the requests belong together. All addresses are below `/api`.\n\n"
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield from operation_text(path, method, item[method], item.get("parameters", []))


def answers_page(document):
    yield "# Answers of radlc serve\n\nThe types that the [requests](requests.md) of `radlc serve` answer with.\n\n"
    for name, schema in document["components"]["schemas"].items():
        yield f"## {name}\n\n" + (schema["description"] + "\n\n" if "description" in schema else "") + members(schema, "") + "\n"


def on_config(config):
    document = json.loads((pathlib.Path(config.docs_dir) / "openapi.json").read_text())
    PAGES.clear()
    PAGES["reference/requests.md"] = "".join(requests_page(document))
    PAGES["reference/answers.md"] = "".join(answers_page(document))
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference.append({"Requests of radlc serve": ["reference/requests.md", "reference/answers.md"]})
    return config


def on_files(files, config):
    for name, text in PAGES.items():
        files.append(File.generated(config, name, content=text))
    return files
