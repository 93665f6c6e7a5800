# SPDX-License-Identifier: Apache-2.0
# One interface target carries language level, warnings, hardening and sanitizers.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Asserts stay on. In sections, so that programs carry what they use and not all that stands beside it in a group.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")  # line tables: enough for traces, half the link time
option(PONK_WERROR "Warnings are errors" OFF)
set(PONK_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the source folder do not count, so that another clone finds the same objects.
  # Nor do a precompiled header's macros and times: its contents are compared.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

add_library(ponk_options INTERFACE)
target_include_directories(ponk_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(ponk_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wno-missing-field-initializers  # fields left out have their defaults: that is their point
  -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  # What GCC 12 says of strings and optionals when it optimises is wrong in every case that was looked at.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict
  -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
  # TRY is a statement expression on purpose.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-gnu-statement-expression>
  $<$<BOOL:${PONK_WERROR}>:-Werror>
  -fstack-protector-strong)
target_compile_definitions(ponk_options INTERFACE
  $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>
  $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
if(PONK_SANITIZE)
  target_compile_options(ponk_options INTERFACE
    -fsanitize=${PONK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ponk_options INTERFACE -fsanitize=${PONK_SANITIZE})
endif()
# Test programs have a hundred megabytes; this linker takes a quarter of the time of the usual one.
find_program(PONK_LLD ld.lld)
if(PONK_LLD AND CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_link_options(ponk_options INTERFACE -fuse-ld=lld)
endif()
