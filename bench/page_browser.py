# SPDX-License-Identifier: Apache-2.0
"""Opens addresses in Debian's Chromium and says how long they took: one visit a line in, one result a line out, in JSON.

    page_browser.py < visits > results      by a Python that has PyPI's playwright

A visit: "address", "ready" (a selector, within shadow trees too), "count" (how many of it make the view useful), "seconds" (patience),
"scroll" (over what the wheel turns), "table" (a chart's menu and file, of our page), "value" (an expression in the page).
"""
import contextlib
import csv
import json
import os
import sys

from playwright.sync_api import Error, sync_playwright

CHROMIUM = "/usr/bin/chromium"
# Runs before the page's own scripts: when enough of it is there, as the browser's clock counts, and tasks that took long.
WATCH = """
(() => {
  const [selector, count] = %s;
  const found = (root) => {
    let sum = root.querySelectorAll(selector).length;
    for (const holder of root.querySelectorAll('*')) if (holder.shadowRoot) sum += found(holder.shadowRoot);
    return sum;
  };
  window.benchTasks = [];
  new PerformanceObserver((list) => window.benchTasks.push(...list.getEntries().map((entry) => [entry.startTime, entry.duration])))
    .observe({ type: 'longtask', buffered: true });
  const look = () => {
    // After the frame that has it was painted.
    if (found(document) >= count) requestAnimationFrame(() => setTimeout(() => (window.benchReady = performance.now())));
    else setTimeout(look, 10);
  };
  if (window === window.top) look();
})()
"""


def until_ready(page, patience):
    for _ in range(int(patience * 20)):
        with contextlib.suppress(Error):  # while the document is replaced
            ready = page.evaluate("window.benchReady")
            if ready:
                return ready / 1000
        page.wait_for_timeout(50)
    return None


def longest_while_scrolling(page, over):
    page.wait_for_timeout(1000)
    box = page.locator(over).first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, min(box["y"] + box["height"] / 2, 600))
    began = page.evaluate("performance.now()")
    for _ in range(60):
        page.mouse.wheel(0, 700)
        page.wait_for_timeout(30)
    page.wait_for_timeout(500)
    return page.evaluate(f"Math.max(0, ...window.benchTasks.filter(([start]) => start >= {began}).map(([, took]) => took))") / 1000


def heap(page):
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    found = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    return found["JSHeapUsedSize"]


def drawn_points(page):
    """What our page's only chart draws, as its own file has it, and how wide its plot is."""
    width = page.locator(".u-over").first.bounding_box()["width"]
    page.get_by_role("button", name="Table and files").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    with open(download.value.path(), newline="") as stream:
        return {"width": width, "points": [(int(row["step"]), float(row["value"])) for row in csv.DictReader(stream)]}


def visited(browser, visit):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(WATCH % json.dumps([visit["ready"], visit["count"]]))
    try:
        page.goto(visit["address"], wait_until="commit")
        result = {"ready": until_ready(page, visit["seconds"])}
        if result["ready"] is None:
            return result
        if visit.get("scroll"):
            result["longest"] = longest_while_scrolling(page, visit["scroll"])
        result["heap"] = heap(page)
        if visit.get("table"):
            result["drawn"] = drawn_points(page)
        if visit.get("value"):
            result["value"] = page.evaluate(visit["value"])
        return result
    finally:
        context.close()


def main():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else [])
        for line in sys.stdin:
            try:
                print(json.dumps(visited(browser, json.loads(line))), flush=True)
            except Error as problem:
                print(json.dumps({"ready": None, "problem": str(problem)[:300]}), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
