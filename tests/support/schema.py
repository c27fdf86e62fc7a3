# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a value is as a JSON Schema says, as far as culprit's schemas go: type, const, enum, required, properties, items."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of(value, kind):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def faults(value, schema, where="$"):
    """Yields a sentence for each thing that is not as the schema says."""
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(is_of(value, kind) for kind in kinds):
        yield f"{where} is {value!r}, which is not of type {kinds}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, which is none of {schema['enum']}"
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where} has no {key!r}"
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                yield from faults(value[key], inner, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for at, each in enumerate(value):
            yield from faults(each, schema["items"], f"{where}[{at}]")
