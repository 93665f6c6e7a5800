# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler and its arm64 packages (dpkg --add-architecture arm64; libssl-dev:arm64,
# libzstd-dev:arm64, libfyaml-dev:arm64, libpugixml-dev:arm64): for ponk-agent on machines with such processors.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSTEM_LIBRARY_PATH /usr/lib/aarch64-linux-gnu)
