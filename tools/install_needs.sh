#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that the named groups need and this machine lacks:
#     tools/install_needs.sh build test
# Says nothing and costs milliseconds when all are there. "a|b" means: the first that is known.
set -euo pipefail

# The stub is built for both architectures; the cross compiler is for the one this machine is not.
case "$(uname -m)" in
    x86_64) cross=g++-aarch64-linux-gnu ;;
    aarch64) cross=g++-x86-64-linux-gnu ;;
    *) cross="" ;;
esac

packages_of() {
    case "$1" in
        build) echo "g++ cmake ninja-build pkg-config ccache python3 python3-venv ca-certificates libfmt-dev libcli11-dev
                     libexpected-dev libfyaml-dev libboost1.81-dev|libboost-dev libssl-dev libzstd-dev
                     zlib1g-dev libminizip-dev libpugixml-dev libre2-dev libtomlplusplus-dev libsqlite3-dev $cross" ;;
        run) echo "python3 python3-numpy" ;;
        test) echo "libgtest-dev libgmock-dev librapidcheck-dev python3-pytest python3-numpy python3-pandas python3-venv
                    python3-yaml python3-paramiko clang-format git qemu-user-static procps libfaketime dbus-daemon|dbus gnome-keyring
                    libsecret-tools docker.io debootstrap xfsprogs btrfs-progs openssh-client openssh-server sudo passwd
                    slurmctld slurmd slurm-client munge iproute2 lld strace chromium fonts-inter fonts-jetbrains-mono" ;;
        fuzz) echo "clang libclang-rt-14-dev|libclang-rt-dev" ;;
        bench) echo "git python3-venv libbenchmark-dev docker.io debootstrap openssh-server openssh-client iproute2 rsync" ;;
        format) echo "clang-format git" ;;
        tidy) echo "clang-tidy git" ;;
        *) echo "install_needs.sh: no group '$1'; the groups are build, run, test, fuzz, bench, format, tidy" >&2; exit 2 ;;
    esac
}

wanted=""
for group in "$@"; do wanted="$wanted $(packages_of "$group")"; done

if ! command -v dpkg-query >/dev/null; then
    echo "This is not Debian: install these packages yourself:" $wanted >&2
    exit 0
fi

installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' | sed -n 's/ installed$//p' | tr '\n' ' ') "
missing=()
for choice in $wanted; do
    found=0
    for package in ${choice//|/ }; do
        [[ "$installed" == *" $package "* ]] && found=1
    done
    [[ $found == 1 ]] || missing+=("$choice")
done
[[ ${#missing[@]} == 0 ]] && exit 0

as_root=()
if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "install_needs.sh: missing packages: ${missing[*]}" >&2
        echo "There is no sudo here: install them as root, then try again." >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "Installing what is missing: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
chosen=()
for choice in "${missing[@]}"; do
    for package in ${choice//|/ }; do
        if apt-cache show "$package" >/dev/null 2>&1; then chosen+=("$package"); continue 2; fi
    done
    echo "install_needs.sh: no package source has '$choice'" >&2
    exit 1
done
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${chosen[@]}" >&2
