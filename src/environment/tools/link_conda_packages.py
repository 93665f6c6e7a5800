# SPDX-License-Identifier: Apache-2.0
"""Solves and links conda packages with py-rattler: python link_conda_packages.py PLAN.json

The plan: {prefix, final_prefix, channels, specs, platform, cache, system, locked}. `final_prefix`
is where the environment will be used, when that is not where it is made; `system` holds the
virtual packages of a machine that is not this one. Prints a line per step.
"""
import asyncio
import json
import os
import sys

import rattler


def virtual_packages(system):
    if not system:
        return [package.into_generic() for package in rattler.VirtualPackage.detect()]
    return [rattler.GenericVirtualPackage(rattler.PackageName(item["name"]), rattler.Version(item["version"]),
                                          rattler.BuildString(item["build"]))
            for item in system]


def exact_spec(package):
    checksum = ", sha256=\"%s\"" % package["sha256"][0] if package.get("sha256") else ""
    if not checksum and package.get("md5"):
        checksum = ", md5=\"%s\"" % package["md5"]
    return "%s[version=\"==%s\", build=\"%s\"%s]" % (package["name"], package["version"], package["build"], checksum)


def explain(problem):
    """The problem and its causes, as far as they say something new."""
    texts = []
    prefix = "no set of packages fits: " if "Solver" in type(problem).__name__ else ""
    while problem is not None:
        text = str(problem)
        if not any(text in known for known in texts):
            texts.append(text)
        problem = problem.__cause__
    return prefix + "\n".join(texts)


class Reporter(rattler.InstallerReporter):
    """Says how far it is, every tenth package."""

    def __init__(self, total):
        super().__init__()
        self.total = total
        self.done = 0

    def on_link_complete(self, *_):
        self.done += 1
        if self.done % 10 == 0 or self.done == self.total:
            print("linked %d of %d packages" % (self.done, self.total), flush=True)


async def main(path):
    with open(path, encoding="utf-8") as stream:
        plan = json.load(stream)
    locked = [package for package in plan.get("locked") or [] if package["manager"] == "conda"]
    specs = [exact_spec(package) for package in locked] or plan["specs"]
    print("solving for %d conda packages" % len(specs), flush=True)
    try:
        records = await rattler.solve(
            sources=[rattler.Channel(channel) for channel in plan["channels"]],
            specs=[rattler.MatchSpec(spec) for spec in specs],
            platforms=[plan["platform"], "noarch"],
            virtual_packages=virtual_packages(plan.get("system")),
            gateway=rattler.Gateway(cache_dir=os.path.join(plan["cache"], "repodata")),
            add_pip_as_python_dependency=False,
        )
    except Exception as problem:  # no solution, a channel that cannot be read, a spec that is none
        print(explain(problem))
        return 2
    print("linking %d packages" % len(records), flush=True)
    try:
        await rattler.install(
            records,
            target_prefix=plan["prefix"],
            cache_dir=os.path.join(plan["cache"], "packages"),
            platform=rattler.platform.Subdir(plan["platform"]),
            alternative_target_prefix=plan.get("final_prefix") or None,
            execute_link_scripts=False,
            show_progress=False,
            reporter=Reporter(len(records)),
        )
    except Exception as problem:
        print(explain(problem))
        return 3
    return 0


if __name__ == "__main__":
    code = asyncio.run(main(sys.argv[1]))
    sys.stdout.flush()
    os._exit(code)  # its threads may still be at work, and fall over what an orderly end takes away
