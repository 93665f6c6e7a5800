# SPDX-License-Identifier: Apache-2.0
# ponk_for_older_glibc(target): the program asks for no version of glibc above 2.17, whatever the one is
# that it is linked with (docs/adr/0022-one-binary-for-older-glibc.md). Only x86-64, and only programs that
# people get: sanitizers bring their own versions of these functions.
set(PONK_OLDER_GLIBC OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT PONK_SANITIZE)
  set(PONK_OLDER_GLIBC ON)
endif()

if(PONK_OLDER_GLIBC)
  set(folder ${CMAKE_SOURCE_DIR}/packaging/older_glibc)
  add_library(ponk_older_glibc OBJECT ${folder}/names.S ${folder}/start.c ${folder}/missing.c)
  # Names of the library are defined there on purpose, without its shortcuts for them.
  target_compile_options(ponk_older_glibc PRIVATE $<$<COMPILE_LANGUAGE:C>:-O2 -fno-builtin -U_FORTIFY_SOURCE
    -Wall -Wextra $<$<BOOL:${PONK_WERROR}>:-Werror>>)
endif()

function(ponk_for_older_glibc target)
  if(PONK_OLDER_GLIBC)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:ponk_older_glibc>)
    # Where these functions were before 2.34.
    target_link_options(${target} PRIVATE -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--as-needed)
  endif()
endfunction()
