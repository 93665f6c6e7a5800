#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what people install: tools/make_packages.py PONK FOLDER

Writes into FOLDER a wheel (ponk-workbench: the program and the Python module ponk), a package for Debian and
a tarball, all with the same stripped program. Which glibc they need is read from the program's symbols, never
claimed. The same program and commit give the same bytes.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
PACKAGING = REPOSITORY / "packaging"
NAME = "ponk-workbench"  # `ponk` is another project's name on PyPI
SUMMARY = "Runs machine-learning scripts on local and remote GPUs and keeps their results"
DEBIAN_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}


def output(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, **options).stdout.decode()


def needed_glibc(program):
    """The highest version of glibc that the program asks for: (2, 17)."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", program))
    if not versions:
        sys.exit(f"make_packages.py: '{program}' asks for no version of glibc: is it the program that users get?")
    return max((int(major), int(minor)) for major, minor in versions)


def build_time():
    """Of the commit, so that a second build of it makes the same files."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    try:
        return int(output("git", "-C", REPOSITORY, "log", "-1", "--format=%ct", stderr=subprocess.DEVNULL))
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 315532800  # 1980, where a zip's calendar begins


class Release:
    """The program and what it says about itself."""

    def __init__(self, ponk, stage):
        self.version = output(ponk, "version").split()[1]
        self.processor = os.uname().machine
        self.glibc = needed_glibc(ponk)
        self.time = build_time()
        self.program = stage / "ponk"
        shutil.copy(ponk, self.program)
        subprocess.run(["strip", self.program], check=True)
        self.manual = stage / "man1"
        self.manual.mkdir()
        subprocess.run([ponk, "man", "--all-to", self.manual], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.completions = {shell: output(ponk, "completion", shell) for shell in ("bash", "zsh", "fish")}

    def pages(self):
        return sorted(self.manual.glob("*.1"))


def module_files():
    """The module for scripts outside of runs: name in the wheel -> file. What only runs use is in the program."""
    names = [*(REPOSITORY / "python" / "ponk").glob("*.py"), *(PACKAGING / "wheel" / "ponk").glob("*.*")]
    return {f"ponk/{path.name}": path for path in sorted(names, key=lambda path: path.name) if path.name != "_mlflow.py"}


def wheel(release, folder):
    major, minor = release.glibc
    platform = f"manylinux_{major}_{minor}_{release.processor}"
    if release.glibc == (2, 17):
        platform += f".manylinux2014_{release.processor}"  # what pip before 20.3 calls it
    stem = f"{NAME.replace('-', '_')}-{release.version}"
    info = f"{stem}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {release.version}\nSummary: {SUMMARY}\n"
                "License: Apache-2.0\nRequires-Python: >=3.5\nDescription-Content-Type: text/markdown\n\n"
                + (REPOSITORY / "README.md").read_text())
    tags = "".join(f"Tag: py3-none-{each}\n" for each in platform.split("."))
    members = [(name, path.read_bytes(), 0o644) for name, path in module_files().items()]
    members += [(f"{stem}.data/scripts/ponk", release.program.read_bytes(), 0o755),
                (f"{info}/METADATA", metadata.encode(), 0o644),
                (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ponk\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
                (f"{info}/LICENSE", (REPOSITORY / "LICENSE").read_bytes(), 0o644)]
    record = ""
    for name, data, _ in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    members.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))

    made = folder / f"{stem}-py3-none-{platform}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, mode in members:
            entry = zipfile.ZipInfo(name, date_time=zip_time(release.time))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return made


def zip_time(seconds):
    return tuple(time.gmtime(max(seconds, 315532800))[:6])


def place(root, name, data, mode=0o644):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def pack(release, root, made):
    """The content of `root` as an archive that depends on nothing of this machine."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = release.time
        return entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.add(root, root.name, filter=plain)  # tarfile sorts the names of a folder
    made.write_bytes(gzip.compress(buffer.getvalue(), mtime=release.time))
    return made


def tarball(release, stage, folder):
    root = stage / f"ponk-{release.version}-{release.processor}"
    place(root, "bin/ponk", release.program.read_bytes(), 0o755)
    place(root, "LICENSE", (REPOSITORY / "LICENSE").read_bytes())
    for page in release.pages():
        place(root, f"share/man/man1/{page.name}", page.read_bytes())
    place_completions(release, root / "share")
    return pack(release, root, folder / f"{root.name}.tar.gz")


def place_completions(release, share):
    place(share, "bash-completion/completions/ponk", release.completions["bash"].encode())
    place(share, "fish/vendor_completions.d/ponk.fish", release.completions["fish"].encode())
    place(share, "zsh/vendor-completions/_ponk", release.completions["zsh"].encode())


def debian(release, stage, folder):
    processor = DEBIAN_PROCESSORS.get(release.processor)
    if not processor or not shutil.which("dpkg-deb"):
        print("no package for Debian: it needs dpkg-deb, and a program for amd64 or arm64", file=sys.stderr)
        return None
    root = stage / "debian"
    share = root / "usr/share"
    place(root, "usr/bin/ponk", release.program.read_bytes(), 0o755)
    for page in release.pages():
        place(share, f"man/man1/{page.name}.gz", gzip.compress(page.read_bytes(), mtime=0))
    place_completions(release, share)
    # A unit that nobody enables: commands start a daemon when they need one.
    unit = (PACKAGING / "ponk.service").read_text().replace("%h/.local/bin/ponk", "/usr/bin/ponk")
    unit = re.sub(r"#\n#   install .*?\n(?=\[)", "#\n#   systemctl --user enable --now ponk\n", unit, flags=re.S)
    place(root, "usr/lib/systemd/user/ponk.service", unit.encode())
    place(share, f"doc/{NAME}/copyright", (PACKAGING / "debian/copyright").read_bytes())
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    major, minor = release.glibc
    control = (f"Package: {NAME}\nVersion: {release.version}\nArchitecture: {processor}\nSection: science\nPriority: optional\n"
               f"Maintainer: The ponk developers <ponk@localhost>\nInstalled-Size: {size}\nDepends: libc6 (>= {major}.{minor})\n"
               "Recommends: openssh-client, python3\nSuggests: docker.io, podman\n"
               f"Description: {SUMMARY[0].lower() + SUMMARY[1:]}\n One program: it takes a script from a folder to a GPU, brings back logs, metrics and outputs, and says\n"
               " whether the GPU was used. It speaks MLflow's tracking API.\n")
    place(root, "DEBIAN/control", control.encode())
    place(root, "DEBIAN/prerm", (PACKAGING / "debian/prerm").read_bytes(), 0o755)
    for path in [root, *root.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    made = folder / f"{NAME}_{release.version}_{processor}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, made], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(release.time)})
    return made


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: tools/make_packages.py PONK FOLDER")
    ponk, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob(f"{NAME.replace('-', '_')}-*.whl"), *folder.glob(f"{NAME}_*.deb"), *folder.glob("ponk-*.tar.gz")]:
        old.unlink()
    with tempfile.TemporaryDirectory() as name:
        stage = pathlib.Path(name)
        release = Release(ponk, stage)
        for made in (wheel(release, folder), debian(release, stage, folder), tarball(release, stage, folder)):
            if made:
                print(f"{made.stat().st_size / 1e6:6.1f} MB  {os.path.relpath(made)}")
    print("They need glibc %d.%d or newer." % release.glibc)


if __name__ == "__main__":
    main()
