#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/gpu-pack/: all that a GPU machine without compiler, container engine and network needs for the checks.
#   tests/integration/gpu/pack.sh            on a Debian 12 machine with the same processor
#   tests/integration/gpu/run.sh             there, with build/gpu-pack beside the sources
set -euo pipefail
cd "$(dirname "$0")/../../.."
pack=build/gpu-pack
mkdir -p "$pack"
cmake --preset release >/dev/null
ninja -C build/release ponk
strip -o "$pack/ponk" build/release/ponk
xz -T0 -f "$pack/ponk"
if [[ ! -s $pack/docker.tar.xz ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download -qq docker.io containerd runc libdevmapper1.02.1 libseccomp2 libudev1 libselinux1 libpcre2-8-0)
    for package in "$work"/*.deb; do dpkg -x "$package" "$work/files"; done
    mkdir -p "$work/pack/lib"
    for program in containerd containerd-shim-runc-v2 dockerd docker runc; do
        find "$work/files" -type f -name "$program" -path '*bin/*' -exec cp {} "$work/pack/" \;
    done
    find "$work/files" -name '*.so*' -exec cp -a {} "$work/pack/lib/" \;
    tar -C "$work/pack" -c . | xz -T0 -6 > "$pack/docker.tar.xz"
fi
ls -l "$pack"
