# SPDX-License-Identifier: Apache-2.0
"""The keys of configuration files for editors."""
import json

import pytest

KINDS = ["runconfig", "compute", "conda", "spark", "project", "mlproject"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_one_json_document_without_a_daemon(ponk, kind):
    schema = json.loads(ponk.run("project", "schema", kind).stdout)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == kind
    assert not (ponk.home / "daemon.sock").exists()


def test_keys_have_meanings_and_those_without_effect_are_marked(ponk):
    keys = ponk.json("project", "schema", "compute", "--query", "properties")

    assert "GPUs" in keys["gpus"]["description"] and "deprecated" not in keys["gpus"]
    assert keys["autostop"]["deprecated"] is True and "no effect" in keys["autostop"]["description"]


def test_another_kind_is_refused_with_those_that_exist(ponk):
    assert b"not one of " + ", ".join(KINDS).encode() in ponk.run("project", "schema", "notebook", code=64).stderr
