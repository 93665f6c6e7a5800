# SPDX-License-Identifier: Apache-2.0
import os
import signal


def test_a_code_is_good_for_one_login(visit, served):
    address = served.address()
    page = visit()
    page.get_by_role("heading", name="Runs", level=1).wait_for()
    assert "code=" not in page.url
    page.evaluate("sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(address)
    page.get_by_role("heading", name="Runs", level=1).wait_for()
    page.evaluate("sessionStorage.clear()")
    page.goto("about:blank")
    page.goto(address)
    page.get_by_role("heading", name="Open the workbench").wait_for()
    page.get_by_role("alert").wait_for()


def test_a_token_opens_the_page_without_what_is_the_owners(visit, served):
    token = served.json("token", "create", "--name", "reader", "--role", "read")["token"]
    page = visit("/models", login=False)
    page.get_by_label("Or a token").fill("ponk_" + "0" * 64)
    page.get_by_role("button", name="Open").click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("Or a token").fill(token)
    page.get_by_role("button", name="Open").click()
    # The view that was asked for before the login.
    page.get_by_role("heading", name="Models", level=1).wait_for()
    # As its client prints it at the end of a run.
    page.evaluate("location.hash = '#/experiments/0/runs/ffffffffffffffffffffffffffffffff'")
    page.get_by_text("ffffffffffffffffffffffffffffffff").wait_for()
    assert page.get_by_role("link", name="Settings").count() == 0
    assert page.locator("header .words").count() == 0
    served.run("token", "remove", "reader")


def test_an_ended_session_logs_in_again_at_the_same_place(visit, served):
    page = visit("/models")
    page.get_by_role("heading", name="Models", level=1).wait_for()
    page.evaluate("fetch('api/v1/ui/session', {method: 'DELETE', headers: {Authorization: 'Bearer ' + sessionStorage.getItem('ponk.session')}})")
    page.get_by_role("heading", name="The session has ended").wait_for()
    assert page.url.endswith("#/models")


def test_addresses_of_mlflow_lead_to_our_views(visit):
    page = visit("/runs")
    page.get_by_role("heading", name="Runs", level=1).wait_for()
    page.evaluate("location.hash = '#/models/some-name'")
    page.get_by_role("heading", name="Models", level=1).wait_for()


def test_a_killed_daemon_is_said_and_the_page_goes_on_when_it_is_back(visit, served):
    page = visit()
    page.locator("[role=row][aria-rowindex]").first.wait_for()
    os.kill(served.json("daemon", "status")["pid"], signal.SIGKILL)
    page.get_by_text("The daemon does not answer since").wait_for()
    # What was known stays.
    assert page.locator("[role=row][aria-rowindex]").count() > 5
    served.run("submit", "--name", "after the kill", "train.py")
    page.get_by_text("The daemon does not answer since").wait_for(state="detached")
    page.get_by_role("button", name="new run").click()
    page.locator("[role=row][aria-rowindex]", has_text="after the kill").wait_for()


def test_a_second_tab_shares_the_session_of_the_first(visit):
    page = visit("/runs")
    page.get_by_role("heading", name="Runs", level=1).wait_for()
    # As a link that is opened in a new tab: nothing of the first tab's storage comes along.
    second = page.context.new_page()
    second.goto(page.url)
    second.get_by_role("heading", name="Runs", level=1).wait_for()
    page.close()
    second.reload()
    second.get_by_role("heading", name="Runs", level=1).wait_for()
    # Another browser has no session.
    other = visit("/runs", login=False)
    other.get_by_role("heading", name="Open the workbench").wait_for()


def test_the_page_opens_at_the_project_of_the_folder(visit, served):
    page = visit(address=served.address("/runs", project=True))
    page.get_by_role("button", name=served.project.name).first.wait_for()
    page.locator("[role=row][aria-rowindex]", has_text="first").wait_for()
    assert page.locator("[role=row][aria-rowindex]", has_text="wide-256").count() == 0
    assert "project=" not in page.url
