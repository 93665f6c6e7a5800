#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of every view and every dialog, in both themes, at three widths, with the data of showcase.py:

    tests/browser/screenshots.py PONK FOLDER [SHOT…] [--home FOLDER] [--only THEME-WIDTH]      in the environment that tools/pytest.sh makes
    tests/browser/screenshots.py PONK docs/images --readme --home /home/ann                    the three of README.md, as WebP

FOLDER gets SHOT-THEME-WIDTH.png and sheet-THEME-WIDTH-N.png, on which many are beside each other. What is wider than the window, or cut
without a way to read the rest, is listed at the end. `--home` is where the project lies, which the pictures show; it must not exist.
"""
import argparse
import base64
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "support")]
from bench import Bench  # noqa: E402
from playwright.sync_api import Error, sync_playwright  # noqa: E402
from showcase import Showcase  # noqa: E402

WIDTHS = {1440: 900, 1024: 768, 390: 844}
README = {"runs-light": ("runs", "light"), "run-dark": ("run", "dark"), "compare-light": ("compare", "light")}
HEIGHTS = {"compare": 1080}  # of the pictures in README.md


def press(*keys):
    def act(page, _):
        for key in keys:
            page.keyboard.press(key)
    return act


def click(*names, dialog=None):
    """The buttons with these names, as far as this width has them; then the dialog's."""
    def act(page, _):
        for name in names:
            page.get_by_role("button", name=name, exact=True).first.click(timeout=3000)
        if dialog:
            page.get_by_role("dialog").wait_for(timeout=3000)
    return act


def fill_machine(page, show, host="127.0.0.1", port=None):
    click("Attach a machine")(page, show)
    page.get_by_label("Name of the target").fill("gpu-box")
    page.get_by_label("Machine (HOST or HOST:PORT)").fill(f"{host}:{port or show.host.port}")
    page.get_by_label("User on the machine").fill("ann")
    page.get_by_role("button", name="Show its host key").click()


def host_key(page, show):
    fill_machine(page, show)
    page.get_by_role("button", name="The key is right: attach").wait_for()


def no_host(page, show):
    fill_machine(page, show, port=9)
    page.get_by_role("alert").wait_for()


def way(name, *labels):
    def act(page, show):
        click(name)(page, show)
        page.get_by_role("dialog").get_by_text(labels[0], exact=True).click()
    return act


def type_filter(page, _):
    page.get_by_role("combobox").first.fill("metrics.loss < 0.2 AND ")
    page.keyboard.type("pa")


def search_log(page, _):
    field = page.get_by_role("searchbox", name="Search the log")
    field.fill("epoch 7")
    field.press("Enter")


def edit_file(page, _):
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nimage: ")


def conflict(page, show):
    edit_file(page, show)
    kept = show.project / "sweep.py"
    kept.write_text(kept.read_text().replace("0.01", "0.01, 0.03"))
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Show both").click()


def make_token(page, show):
    click("New token")(page, show)
    page.get_by_label("Name").last.fill(f"ci-{page.viewport_size['width']}{page.evaluate('matchMedia(`(prefers-color-scheme: dark)`).matches ? 1 : 0')}")
    click("Create")(page, show)
    page.get_by_text("the only time").wait_for()


def to_the_end(page, _):
    page.locator("main").evaluate("main => main.scrollTo(0, main.scrollHeight)")


SELECT = press("j", "j", "j", "j", "x", "j", "x", "j", "x")
BEST = "/runs?filter=metrics.loss%20%3C%200.2%20AND%20params.lr%20%3D%20%270.003%27&order=metrics.loss%20ASC"
COMPARED = "/compare?runs={wide-256},{wide-128},{deep-4}"
# Name: address, and what is done there.
SHOTS = {
    "runs": ("/runs", SELECT), "runs-filter": (BEST, type_filter), "runs-group": ("/runs?group=params.lr&order=metrics.accuracy%20DESC", None), "runs-best": (BEST, None),
    "runs-columns": ("/runs", click("Columns", dialog=True)), "runs-views": ("/runs", click("Views", dialog=True)),
    "runs-refused": ("/runs?filter=metrics.loss%20%3C%20%27a%27", None), "runs-none": ("/runs?filter=metrics.loss%20%3C%20-1", None),
    "runs-tags": ("/runs", lambda page, show: (SELECT(page, show), click("Tags")(page, show))),
    "runs-note": ("/runs", lambda page, show: (press("j", "j", "x")(page, show), click("Name, note, tags")(page, show))),
    "runs-grouping": ("/runs", click("Group")), "keys": ("/runs", press("?")), 
    "jobs": ("/runs", lambda page, _: page.get_by_role("button", name="Jobs").click()), "switch": ("/runs", lambda page, _: page.locator(".switch button").first.click(timeout=3000)),
    "navigation": ("/runs", click("Navigation")), "runbar": ("/projects", lambda page, _: page.get_by_role("button", name="Run", exact=False).first.click()),
    "run": ("/run/{wide-256}", None), "run-log": ("/run/{wide-256}/log", None), "run-search": ("/run/{wide-256}/log", search_log), "run-metrics": ("/run/{wide-256}/metrics", None),
    "run-chart": ("/run/{wide-256}/metrics", lambda page, show: (click("Table and files of loss")(page, show), click("As a table")(page, show))),
    "run-outputs": ("/run/{wide-256}/outputs", None), "run-picture": ("/run/{wide-256}/outputs", click("outputs/confusion.png", dialog=True)),
    "run-text": ("/run/{wide-256}/outputs", click("outputs/predictions.csv", dialog=True)),
    "run-gpu": ("/run/{wide-256}/gpu", None), "run-code": ("/run/{wide-256}/code", None), "run-environment": ("/run/{wide-256}/environment", None),
    "run-failed": ("/run/{missing}", None), "run-live": ("/run/{live}", None), "run-waiting": ("/run/{waiting}", None), "run-gone": ("/run/" + "f" * 32, None),
    "run-actions": ("/run/{wide-256}", click("More actions")), "run-delete": ("/run/{wide-256}", click("More actions", "Delete", dialog=True)),
    "run-rename": ("/run/{wide-256}", click("More actions", "Rename", dialog=True)),
    "compare": (COMPARED, None), "compare-code": (COMPARED, to_the_end), "compare-all": (COMPARED + "&all=1", None), "compare-one": ("/compare?runs={wide-256}", None),
    "files": ("/files", None), "files-python": ("/files/train.py", None), "files-wrong": ("/files/aml_config/old-box.compute", edit_file), "files-conflict": ("/files/sweep.py", conflict),
    "files-new": ("/files", click("New file", dialog=True)), "files-notebook": ("/files/notebooks/widths.ipynb", None), "files-readme": ("/files/README.md", click("Show rendered")),
    "targets": ("/targets", None), "targets-attach": ("/targets", click("Attach a machine", dialog=True)), "targets-local": ("/targets", way("Attach a machine", "this machine")),
    "targets-key": ("/targets", host_key), "targets-refused": ("/targets", no_host),
    "environments": ("/environments", None), "environments-remove": ("/environments", lambda page, _: page.locator("button:enabled", has_text="Remove").first.click(timeout=3000)),
    "models": ("/models", None), "models-open": ("/models?name=digits", None),
    "projects": ("/projects", None), "project": ("/projects/{project}", None), "projects-new": ("/projects", click("New project", dialog=True)), "projects-git": ("/projects", way("New project", "From git")),
    "projects-sample": ("/projects", way("New project", "Sample")),
    "settings": ("/settings", None), "settings-token": ("/settings", click("New token", dialog=True)), "settings-made": ("/settings", make_token), "settings-remove": ("/settings", click("Remove", dialog=True)),
    "about": ("/about", None), "nowhere": ("/nowhere", None), "login": (None, None),
}
# What is wider than the page, and text that is cut with no way to read it.
TROUBLES = """() => [
  ...(document.documentElement.scrollWidth > innerWidth ? ['the page is wider than the window'] : []),
  ...[...document.querySelectorAll('body *')].filter((one) => {
    const look = getComputedStyle(one), box = one.getBoundingClientRect();
    if (box.width < 8 || box.height < 8 || look.visibility === 'hidden' || one.closest('.only-read, .cm-editor, .table .body')) return false;
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    return own && look.overflowX === 'hidden' && one.scrollWidth > one.clientWidth + 1 && !one.closest('[title]') && !one.title && !one.closest('pre');
  }).map((one) => 'cut: ' + one.textContent.trim().slice(0, 60)),
  ...[...document.querySelectorAll('main *, dialog *, header *')].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 2 && !one.closest('.scroll-x, pre, .table, .tabs, .cm-editor, .skip, .log, .scroll');
  }).slice(0, 3).map((one) => 'outside: ' + one.tagName + '.' + one.className + ' ' + one.textContent.trim().slice(0, 40)),
]"""


def settle(page):
    for _ in range(60):
        try:
            if page.evaluate("!document.querySelector('[aria-busy=true]')"):
                break
        except Error:
            pass
        page.wait_for_timeout(100)
    page.wait_for_timeout(700)


def serve(context, root, dist):
    """This build of the page in place of the program's own."""
    def answer(route):
        path = route.request.url.split("?")[0].removeprefix(root) or "index.html"
        route.fulfill(path=dist / path) if (dist / path).is_file() else route.continue_()
    context.route(lambda url: url.startswith(root) and "/api/" not in url, answer)


def take(show, folder, names, looks, dist=None, heights={}):
    """Pictures by look, and what is wrong with them."""
    said, taken = [], {look: [] for look in looks}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for theme, width in looks:
            context = browser.new_context(viewport={"width": width, "height": WIDTHS[width]}, color_scheme=theme, locale="en-US")
            address = Bench.address(show, "/runs", project=True)
            root = address.split("#")[0]
            if dist:
                serve(context, root, dist)
            page = context.new_page()
            page.set_default_timeout(15_000)
            page.on("dialog", lambda dialog: dialog.accept())
            page.goto(address)
            page.get_by_role("heading", level=1).wait_for()
            for name in names:
                place, act = SHOTS[name]
                picture = folder / f"{name}-{theme}-{width}.png"
                try:
                    if place is None:
                        page.evaluate("sessionStorage.clear()")
                        page.goto(root)
                        page.reload()
                    else:
                        for run, number in {**show.runs, "project": show.id}.items():
                            place = place.replace("{" + run + "}", number)
                        page.goto(f"{root}#{place}")
                        page.reload()
                        page.locator("main > *").first.wait_for()
                        settle(page)
                        if act:
                            act(page, show)
                    settle(page)
                except Error as error:
                    said.append(f"{picture.stem}: {str(error).splitlines()[0]}")
                    continue
                page.set_viewport_size({"width": width, "height": heights.get(name, WIDTHS[width])})
                page.wait_for_timeout(500 if name in heights else 0)
                page.screenshot(path=picture)
                taken[theme, width].append(picture)
                said += [f"{picture.stem}: {one}" for one in page.evaluate(TROUBLES)]
            context.close()
        for (theme, width), pictures in taken.items():
            sheets(browser, folder, f"sheet-{theme}-{width}", pictures, 3 if width > 600 else 6)
        browser.close()
    return said


def sheets(browser, folder, name, pictures, columns):
    rows = 3 if columns == 3 else 2
    page = browser.new_page(viewport={"width": 1980, "height": 400})
    for number, first in enumerate(range(0, len(pictures), columns * rows)):
        cells = "".join(f"<figure><figcaption>{one.stem}</figcaption><img src='data:image/png;base64,{base64.b64encode(one.read_bytes()).decode()}'></figure>"
                        for one in pictures[first:first + columns * rows])
        page.set_content(f"<style>body{{margin:6px;background:#888;display:grid;grid-template-columns:repeat({columns},1fr);gap:8px;font:14px sans-serif}}"
                         f"figure{{margin:0}}img{{width:100%}}</style>{cells}")
        page.screenshot(path=folder / f"{name}-{number}.png", full_page=True)
    page.close()


def compress(pictures):
    """{PNG: WebP}, by what the browser has."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        for source, target in pictures.items():
            made = page.evaluate("""async (text) => {
                const image = new Image();
                image.src = 'data:image/png;base64,' + text;
                await image.decode();
                const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height});
                canvas.getContext('2d').drawImage(image, 0, 0);
                return canvas.toDataURL('image/webp', 0.9).split(',')[1];
            }""", base64.b64encode(source.read_bytes()).decode())
            target.write_bytes(base64.b64decode(made))
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("shots", nargs="*", metavar="SHOT")
    parser.add_argument("--home", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--dist", type=pathlib.Path, help="a build of the page, web/dist, in place of the program's own")
    words = parser.parse_intermixed_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    home = words.home or pathlib.Path(tempfile.mkdtemp())
    if words.home:
        home.mkdir(parents=True)
    show = None
    try:
        show = Showcase(words.program.resolve(), home)
        show.fill()
        looks = [(theme, width) for theme in ("light", "dark") for width in WIDTHS if not words.only or f"{theme}-{width}" in words.only]
        if words.readme:
            looks = [("light", 1440), ("dark", 1440)]
            with tempfile.TemporaryDirectory() as place:
                said = take(show, pathlib.Path(place), [shot for shot, _ in README.values()], looks, words.dist, HEIGHTS)
                compress({pathlib.Path(place) / f"{shot}-{theme}-1440.png": words.folder / f"{name}.webp" for name, (shot, theme) in README.items()})
        else:
            said = take(show, words.folder, words.shots or list(SHOTS), looks, words.dist)
        print("\n".join(said) or "nothing is cut")
    finally:
        if show:
            show.close()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
