#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a GPU machine: the checks, with what pack.sh made, or else with a build made here. Words go to check_gpu.py.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
cd "$here/../../.."
pack=build/gpu-pack
if [[ -s $pack/ponk.xz ]]; then
    xz -dkf "$pack/ponk.xz"
    chmod +x "$pack/ponk"
    ponk=$pack/ponk
else
    cmake --preset release && ninja -C build/release ponk
    ponk=build/release/ponk
fi
words=()
[[ -s $pack/docker.tar.xz ]] && ! command -v dockerd >/dev/null && words=(--docker "$pack/docker.tar.xz")
[[ -s $pack/ssh.tar.xz ]] && ! PATH=$PATH:/usr/sbin command -v sshd >/dev/null && words+=(--ssh "$pack/ssh.tar.xz")
exec python3 "$here/check_gpu.py" "$ponk" "${words[@]}" "$@"
