# SPDX-License-Identifier: Apache-2.0
"""Machines that are attached from the page: by a real sshd with keys of its own, and on this machine."""
import pathlib
import shutil
import sys
import tempfile

import pytest
from test_views import serious

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration" / "ssh"))
import host as hosts  # noqa: E402


@pytest.fixture(scope="module")
def machine():
    reason = hosts.missing()
    if reason:
        pytest.skip(reason)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pb", dir="/tmp"))
    folder.chmod(0o755)
    user = hosts.User("pageattach", folder, hosts.PASSWORD)
    server = hosts.Sshd().start()
    yield server, user
    server.remove()
    user.remove()
    shutil.rmtree(folder, ignore_errors=True)


def opened(visit, served, **look):
    page = visit(address=served.address("/targets", project=True), **look)
    page.get_by_role("button", name="Attach a machine").click()
    return page, page.get_by_role("dialog", name="Attach a machine")


def fill(dialog, server, user, name, password):
    dialog.get_by_text("over SSH", exact=True).click()
    dialog.get_by_label("Name of the target").fill(name)
    dialog.get_by_label("Machine (HOST or HOST:PORT)").fill(f"127.0.0.1:{server.port}")
    dialog.get_by_label("User on the machine").fill(user.name)
    dialog.get_by_label("Log in with").select_option("password")
    dialog.get_by_role("textbox", name="Password").fill(password)


def test_a_machine_shows_its_key_before_it_is_attached(visit, served, machine):
    server, user = machine
    page, dialog = opened(visit, served)
    fill(dialog, server, user, "lab", "wrong")
    dialog.get_by_role("button", name="Show its host key").click()

    dialog.get_by_text(server.fingerprint()).wait_for()
    dialog.get_by_text("presents this ED25519 host key").wait_for()
    assert serious(page) == []
    assert "authentication" not in (server.folder / "log").read_text().replace("preauth", "").lower() and user.authorized == ""
    assert not (served.project / "aml_config" / "lab.compute").exists()

    dialog.get_by_role("button", name="The key is right: attach").click()
    dialog.get_by_role("alert").get_by_text("does not accept the password").wait_for()
    assert user.authorized == "" and not (served.project / "aml_config" / "lab.compute").exists()

    dialog.get_by_role("button", name="Back").click()
    dialog.get_by_role("textbox", name="Password").fill(hosts.PASSWORD)
    dialog.get_by_role("button", name="Show its host key").click()
    dialog.get_by_role("button", name="The key is right: attach").click()
    card = page.locator("section", has=page.get_by_role("heading", name="lab"))
    card.get_by_text("✓ reachable").wait_for(timeout=120_000)
    assert not dialog.is_visible() and user.authorized.count("ponk of") == 1
    card.get_by_role("button", name="Check").click()
    card.get_by_text("over SSH · 127.0.0.1").wait_for()


def test_another_key_than_the_confirmed_one_is_refused(visit, served, machine):
    server, user = machine
    page, dialog = opened(visit, served)
    fill(dialog, server, user, "changed", hosts.PASSWORD)
    served.run("computetarget", "detach", "lab", "--yes", code=None)
    dialog.get_by_role("button", name="Show its host key").click()
    shown = server.fingerprint()
    dialog.get_by_text(shown).wait_for()
    server.stop()
    server.new_host_keys()
    server.start()
    dialog.get_by_role("button", name="The key is right: attach").click()

    alert = dialog.get_by_role("alert")
    alert.get_by_text("has no host key with the fingerprint").wait_for()
    alert.get_by_text("the connection is intercepted").wait_for()
    assert not (served.project / "aml_config" / "changed.compute").exists()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_wrong_is_said_with_the_next_step(visit, served, theme):
    page, dialog = opened(visit, served, theme=theme, width=390, height=844)
    assert serious(page) == []
    dialog.get_by_label("Name of the target").fill("far")
    dialog.get_by_label("Machine (HOST or HOST:PORT)").fill(f"127.0.0.1:{hosts.free_port()}")
    dialog.get_by_label("User on the machine").fill("ann")
    dialog.get_by_role("button", name="Show its host key").click()
    dialog.get_by_role("alert").get_by_text("refuses connections").wait_for()
    assert dialog.get_by_label("Name of the target").input_value() == "far"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_interpreter_of_this_machine_is_attached_at_once(visit, served):
    for again in (False, True):
        page, dialog = opened(visit, served)
        dialog.get_by_text("this machine", exact=True).click()
        dialog.get_by_label("Name of the target").fill("other-python")
        dialog.get_by_label("Python interpreter").fill(sys.executable)
        dialog.get_by_role("button", name="Attach", exact=True).click()
        if again:
            dialog.get_by_role("alert").get_by_text("already exists").wait_for()
        else:
            card = page.locator("section", has=page.get_by_role("heading", name="other-python"))
            card.get_by_text("✓ ready").wait_for()
    assert sys.executable in (served.project / "aml_config" / "other-python.compute").read_text()
