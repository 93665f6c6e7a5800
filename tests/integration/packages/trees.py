# SPDX-License-Identifier: Apache-2.0
"""Small Debians of several ages, each made once with debootstrap and kept as a file below the cache folder."""
import os
import pathlib
import shutil
import subprocess
import tempfile

PACKAGES = "python3,python3-venv,ca-certificates"


def missing():
    """Why no tree can be used here, or None."""
    if os.geteuid() != 0:
        return "another root folder needs root"
    for name in ("debootstrap", "unshare", "chroot"):
        if not shutil.which(name):
            return f"'{name}' is not installed"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
        return "this machine allows no namespaces"
    return None


def archive(suite):
    """A tar file of that Debian; CalledProcessError when no mirror has it."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ponk-tests"
    kept = cache / f"installs-{suite}.tar"
    if kept.exists():
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        root = pathlib.Path(folder) / "root"
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, str(root)], check=True, capture_output=True)
        made = pathlib.Path(folder) / "tree.tar"
        subprocess.run(["tar", "-C", str(root), "--exclude=./var/cache/apt", "-cf", str(made), "."], check=True)
        made.rename(kept)
    return kept


class Tree:
    def __init__(self, suite, root):
        self.root = pathlib.Path(root)
        subprocess.run(["tar", "-C", str(root), "-xf", str(archive(suite))], check=True)

    def run(self, script):
        """What a shell says in the tree, with processes of its own: none of them outlives it."""
        (self.root / "srv/script").write_text("set -e\nexport HOME=/srv LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin\ncd /srv\n" + script)
        inside = ("mount --make-rprivate / && mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && "
                  "mount -t tmpfs tmpfs \"$0/tmp\" && exec chroot \"$0\" /bin/bash /srv/script")
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inside, str(self.root)],
                              capture_output=True, timeout=300)
        assert done.returncode == 0, (script, done.stdout.decode()[-3000:], done.stderr.decode()[-3000:])
        return done.stdout.decode()
