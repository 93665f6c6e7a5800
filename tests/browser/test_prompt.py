# SPDX-License-Identifier: Apache-2.0
"""The command prompt of the page: a terminal in it, under the page's strict policy, by keyboard and on a phone."""
import os
import re

import pytest
from bench import until
from test_views import serious


@pytest.fixture
def prompted(visit, served):
    """prompted() opens the page with a prompt."""

    def opened(**more):
        served.environment["SHELL"] = "/bin/bash"
        text = served.run("ui", "--no-open", "--prompt").stdout.decode()
        page = visit(address=re.search(r"http\S+", text).group(0), **more)
        page.get_by_role("heading", name="Command prompt", level=1).wait_for()
        return page

    return opened


def shown(page):
    """What a screen reader has of the terminal."""
    return page.evaluate("[...document.querySelectorAll('.xterm-accessibility-tree > div')].map((row) => row.textContent.trimEnd()).join('\\n')")


def until_shown(page, word):
    until(page, f"[...document.querySelectorAll('.xterm-accessibility-tree > div')].some((row) => row.textContent.includes({word!r}))", 60)


def ready(page):
    until_shown(page, "ponk: python is")
    page.keyboard.type("PS1='mnist$ '; clear\n")
    until(page, "[...document.querySelectorAll('.xterm-accessibility-tree > div')][0]?.textContent.startsWith('mnist$')", 60)


def styles_count(page):
    return page.evaluate("document.querySelectorAll('style, [style*=\"url\"]').length")


def test_what_is_typed_runs_and_the_policy_holds(prompted):
    # Errors of the console, which a style that is refused would be, fail the test (conftest.py).
    page = prompted()
    ready(page)
    page.keyboard.type("echo $((6*7))-\x03")
    page.keyboard.type("echo $((6*7))-is-it\n")
    until_shown(page, "42-is-it")
    # Colours of all kinds; what asks for the clipboard, a title or a link gets nothing.
    title = page.title()
    page.keyboard.type("printf '\\e[31mred\\e[0m \\e[38;5;208morange\\e[0m \\e[38;2;10;200;30mgreen\\e[0m \\e]0;evil\\a\\e]52;c;ZXZpbA==\\a\\e]8;;http://evil.example\\alink\\e]8;;\\a d''one\\n'\n")
    until_shown(page, "link done")
    assert page.title() == title and styles_count(page) == 0
    colours = page.evaluate("[...document.querySelectorAll('.xterm-rows span')].filter((one) => /^(red|orange|green)/.test(one.textContent)).map((one) => getComputedStyle(one).color)")
    assert len(set(colours)) == 3, colours
    assert serious(page) == []


def test_size_views_and_the_way_out(prompted):
    page = prompted()
    ready(page)
    page.keyboard.type("stty size\n")
    until(page, "[...document.querySelectorAll('.xterm-accessibility-tree > div')].some((row) => /^\\d+ \\d+$/.test(row.textContent.trim()))", 60)
    rows, columns = map(int, re.search(r"^(\d+) (\d+)$", shown(page), re.M).groups())
    assert columns > 100 and rows > 20
    page.keyboard.type("word=kept; clear\n")
    page.set_viewport_size({"width": 1000, "height": 700})
    page.keyboard.type("stty size | tr ' ' x\n")
    until(page, f"[...document.querySelectorAll('.xterm-accessibility-tree > div')].some((row) => /^\\d+x\\d+$/.test(row.textContent.trim()) && row.textContent.trim() !== '{rows}x{columns}')", 60)
    # Tab is the shell's; Ctrl+M leads out, and it says so.
    assert page.get_by_text("Ctrl+M leaves the terminal").is_visible()
    page.keyboard.press("Tab")
    until(page, "document.activeElement.classList.contains('xterm-helper-textarea')")
    page.keyboard.press("Control+m")
    until(page, "document.activeElement.textContent === 'End'")
    # The shell goes on while another view is looked at.
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("heading", name="Settings", level=1).wait_for()
    page.get_by_role("link", name="Command prompt").click()
    until(page, "document.activeElement.classList.contains('xterm-helper-textarea')")
    page.keyboard.type("echo $word-$word\n")
    until_shown(page, "kept-kept")


def test_what_is_pasted_waits_for_enter(prompted):
    page = prompted()
    ready(page)
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.setData('text/plain', "echo pas''ted \\u001b[201~\\necho two''lines\\n");
        document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
    }""")
    until_shown(page, "two''lines")
    page.keyboard.type(" # end\n")
    until_shown(page, "# end")
    until(page, "[...document.querySelectorAll('.xterm-accessibility-tree > div')].some((row) => row.textContent.trim() === 'twolines')")
    lines = [line.strip() for line in shown(page).splitlines()]
    # Both behind the one Enter: nothing ran while it was pasted, and nothing in it ended the paste.
    assert lines.index("pasted [201~") == lines.index("twolines") - 1 > [at for at, line in enumerate(lines) if "# end" in line][0]


def test_an_end_is_told_and_it_starts_again(prompted):
    page = prompted()
    ready(page)
    page.keyboard.type("exit 9\n")
    page.get_by_text("The shell has ended with code 9.").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="Start again").click()
    until_shown(page, "ponk: python is")
    page.get_by_role("button", name="End", exact=True).click()
    page.get_by_role("button", name="Start again").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_without_the_right_it_says_which_command_gives_it(visit, theme):
    page = visit("/prompt", theme=theme)
    page.get_by_text("ponk ui --prompt").wait_for()
    assert serious(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_it_fits_and_axe_finds_nothing_serious(prompted, theme, width, tmp_path):
    page = prompted(theme=theme, width=width, height=844)
    ready(page)
    page.keyboard.type("ls --color=always -la; pip install tensorflow-gpu; echo al''l\n")
    until(page, "[...document.querySelectorAll('.xterm-accessibility-tree > div')].some((row) => row.textContent.trim() === 'all')", 60)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []
    page.screenshot(path=str(tmp_path / f"prompt-{theme}-{width}.png"))
    # For who looks at them.
    if folder := os.environ.get("PONK_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/prompt-{theme}-{width}.png")
