# SPDX-License-Identifier: Apache-2.0
"""Calls of a real daemon by its socket, each compared with what /api/v1/openapi.json says about it."""
import http.client
import json
import re
import socket
import urllib.parse

import jsonschema

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
formats = jsonschema.FormatChecker(formats=())


@formats.checks("date-time")
def is_time(text):
    return not isinstance(text, str) or bool(TIME.fullmatch(text))


class Contract:
    def __init__(self, document):
        self.document = document

    def operation(self, method, path):
        return self.document["paths"][path][method.lower()]

    def parameters(self, method, path):
        both = self.document["paths"][path].get("parameters", []) + self.operation(method, path).get("parameters", [])
        return {(one["in"], one["name"]): one for one in map(self._followed, both)}

    def _followed(self, value):
        if "$ref" not in value:
            return value
        found = self.document
        for part in value["$ref"].split("/")[1:]:
            found = found[part]
        return found

    def strict(self, schema):
        """The schema without references, and without room for fields that it does not name: clients leave it, we do not."""
        schema = dict(self._followed(schema))
        if "allOf" in schema:
            parts = [self.strict(part) for part in schema["allOf"]]
            return {"type": "object", "properties": {name: value for part in parts for name, value in part["properties"].items()},
                    "required": [name for part in parts for name in part.get("required", [])], "additionalProperties": False}
        if "properties" in schema:
            schema["properties"] = {name: self.strict(value) for name, value in schema["properties"].items()}
            schema.setdefault("additionalProperties", False)
        for name in ("items", "additionalProperties"):
            if isinstance(schema.get(name), dict):
                schema[name] = self.strict(schema[name])
        for name in ("anyOf", "prefixItems"):
            if name in schema:
                schema[name] = [self.strict(each) for each in schema[name]]
        return schema

    def check(self, value, schema, what):
        found = jsonschema.Draft202012Validator(self.strict(schema), format_checker=formats).iter_errors(value)
        # Of "this or null" what is wrong with this.
        problems = [f"{problem.json_path}: {problem.message[:300]}" for one in found for problem in (one.context or [one])]
        assert not problems, (what, problems)

    def check_request(self, method, path, query, body):
        known = self.parameters(method, path)
        for name, value in query.items():
            assert ("query", name) in known, (method, path, name)
            typed = int(value) if self._followed(known["query", name]["schema"]).get("type") == "integer" else str(value)
            self.check(typed, known["query", name]["schema"], (method, path, name))
        described = self.operation(method, path).get("requestBody")
        if body is not None:
            self.check(body, described["content"]["application/json"]["schema"], f"the request {method} {path}")

    def check_answer(self, method, path, status, media, body):
        """What the body says, for JSON."""
        what = f"the answer {status} to {method} {path}"
        answers = self.operation(method, path)["responses"]
        answer = self._followed(answers.get(str(status), answers["default"]))
        assert str(status) in answers or status >= 400, what
        assert media in answer["content"], (what, media)
        schema = answer["content"][media].get("schema")
        if media == "application/x-ndjson":
            lines = [json.loads(line) for line in body.splitlines()]
            for line in lines:
                self.check(line, schema, what)
            return lines
        if media != "application/json":
            return body
        value = json.loads(body)
        self.check(value, schema, what)
        return value


class Caller:
    """Calls with the path as the document has it: call("GET", "/runs/{run}", run=ID)."""

    def __init__(self, ponk):
        self.ponk = ponk
        ponk.run("runs")  # starts the daemon
        self.contract = Contract(json.loads(self._exchange("GET", "/openapi.json")[2]))
        self.called = set()

    def _connection(self):
        connection = http.client.HTTPConnection("localhost", timeout=120)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(120)
        connection.sock.connect(str(self.ponk.home / "daemon.sock"))
        return connection

    def _exchange(self, method, address, body=None, session=None):
        connection = self._connection() if session is None else http.client.HTTPConnection("127.0.0.1", session[0], timeout=120)
        headers = {} if session is None else {"Authorization": "Bearer " + session[1]}
        connection.request(method, "/api/v1" + address, json.dumps(body) if body is not None else None, headers)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, reply.headers["Content-Type"], text

    def call(self, method, path, /, status=200, query=None, body=None, session=None, **variables):
        """`session`: the loopback port and a session's text, instead of the socket."""
        query = query or {}
        self.contract.check_request(method, path, query, body)
        address = re.sub(r"\{(\w+)\}", lambda name: urllib.parse.quote(variables[name[1]], safe="/"), path)
        if query:
            address += "?" + urllib.parse.urlencode(query)
        got, media, text = self._exchange(method, address, body, session)
        assert got == status, (method, address, got, text[:500])
        value = self.contract.check_answer(method, path, got, media, text)
        if got < 400:
            self.called.add((method, path))
        return value
