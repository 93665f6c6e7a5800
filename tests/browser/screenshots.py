# SPDX-License-Identifier: Apache-2.0
"""Pictures of each view, in both themes, at three widths:

    tests/browser/screenshots.py PONK FOLDER [VIEW…]      in the environment that tools/pytest.sh makes
"""
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "support")]
from bench import Bench  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

VIEWS = {
    "runs": ("/runs", ["j", "j", "j", "j", "x", "j", "j", "x", "j", "x"]), "filter": ("/runs?filter=metrics.loss%20%3C%200.2&order=metrics.loss%20ASC&group=params.lr", []),
    "refused": ("/runs?filter=metrics.loss%20%3C%20%27a%27", []), "keys": ("/runs", ["?"]), "run": ("/run/{0}", []), "compare": ("/compare?runs={0},{1},{2}", []), "projects": ("/projects", []), "targets": ("/targets", []),
    "environments": ("/environments", []), "models": ("/models", []), "settings": ("/settings", []), "about": ("/about", []),
}
WIDTHS = {1440: 900, 1024: 768, 390: 844}


def take(bench, folder, names):
    chosen = [run["run_id"] for run in bench.json("history", "list", "--all-projects", "--filter", "metrics.accuracy > 0.5 AND target = 'gpu-box'")[:3]]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name in names:
            place, keys = VIEWS[name]
            for theme in ("light", "dark"):
                for width, height in WIDTHS.items():
                    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme, locale="en-US")
                    page = context.new_page()
                    page.goto(bench.address(place.format(*chosen)))
                    page.get_by_role("heading", level=1).wait_for()
                    page.wait_for_timeout(1500)
                    for key in keys:
                        page.keyboard.press(key)
                    page.wait_for_timeout(200)
                    page.screenshot(path=folder / f"{name}-{theme}-{width}.png")
                    context.close()
        browser.close()


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(program, pathlib.Path(place))
        try:
            bench.fill(1248, int(time.time() * 1000))
            _, gate = bench.submit_waiting("wide-512")
            take(bench, folder, sys.argv[3:] or VIEWS)
            gate.touch()
        finally:
            subprocess.run([bench.program, "daemon", "stop"], env=bench.environment, capture_output=True, timeout=60)


if __name__ == "__main__":
    main()
