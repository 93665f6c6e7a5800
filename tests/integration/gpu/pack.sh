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

# Downloads packages by name and unpacks them into a new folder, whose name is left in `files`.
unpack() {
    files=$(mktemp -d)
    scratch+=("$files")
    (cd "$files" && apt-get download -qq "$@")
    for package in "$files"/*.deb; do dpkg -x "$package" "$files/tree"; done
    mkdir -p "$files/pack/lib"
    find "$files/tree" -name '*.so*' -not -name '*.conf' -exec cp -a {} "$files/pack/lib/" \;
}
scratch=()
trap 'rm -rf "${scratch[@]}"' EXIT
if [[ ! -s $pack/docker.tar.xz ]]; then
    unpack docker.io containerd runc libdevmapper1.02.1 libseccomp2 libudev1 libselinux1 libpcre2-8-0
    for program in containerd containerd-shim-runc-v2 dockerd docker runc; do
        find "$files/tree" -type f -name "$program" -path '*bin/*' -exec cp {} "$files/pack/" \;
    done
    tar -C "$files/pack" -c . | xz -T0 -6 > "$pack/docker.tar.xz"
fi
if [[ ! -s $pack/ssh.tar.xz ]]; then
    unpack patchelf openssh-server openssh-client libwrap0 libaudit1 libcap-ng0 libcap2 libpam0g libsystemd0 libselinux1 libpcre2-8-0 \
        libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libkeyutils1 libcom-err2 libnsl2 libtirpc3 libcrypt1 libssl3 \
        libgcrypt20 libgpg-error0 liblz4-1 liblzma5 zlib1g libzstd1
    for program in sshd ssh ssh-keygen ssh-keyscan; do
        find "$files/tree" -type f -name "$program" -path '*bin/*' -exec cp {} "$files/pack/" \;
        # They start each other, through environments that are created again.
        "$files/tree/usr/bin/patchelf" --force-rpath --set-rpath '$ORIGIN/lib' "$files/pack/$program"
    done
    tar -C "$files/pack" -c . | xz -T0 -6 > "$pack/ssh.tar.xz"
fi
ls -l "$pack"
