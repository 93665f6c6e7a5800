#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with fixed addresses where the kernel randomises more bits than the thread sanitizer
# of GCC 12 and clang 14 can map; elsewhere runs it as it is.
set -euo pipefail
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
if [[ $bits -gt 28 ]] && setarch -R true 2>/dev/null; then exec setarch -R "$@"; fi
exec "$@"
