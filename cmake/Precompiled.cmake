# SPDX-License-Identifier: Apache-2.0
# What nearly every file reads, read once: more than half of a compiler's time here goes into the
# standard library's headers. Not in the dev preset, where a forgotten include must be noticed.
option(PONK_PRECOMPILE "Read the standard headers once" OFF)

if(PONK_PRECOMPILE)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "int main() {}\n")
  set(ponk_standard <algorithm> <array> <atomic> <chrono> <cmath> <cstring> <deque> <filesystem> <functional> <map>
    <memory> <mutex> <optional> <set> <stop_token> <string> <string_view> <thread> <unordered_map> <utility>
    <vector> <fmt/format.h> <tl/expected.hpp> <fcntl.h> <sys/stat.h> <unistd.h>)
  target_compile_options(ponk_options INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")  # for ccache
  add_library(ponk_precompiled STATIC ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(ponk_precompiled PRIVATE ponk_options ponk_fmt)
  target_precompile_headers(ponk_precompiled PRIVATE ${ponk_standard})
  if(PONK_TESTS)
    # A program: those are compiled with other flags than libraries.
    add_executable(ponk_precompiled_test EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(ponk_precompiled_test PRIVATE ponk_options ponk_fmt GTest::gmock GTest::gtest_main)
    target_precompile_headers(ponk_precompiled_test PRIVATE ${ponk_standard} <gtest/gtest.h> <gmock/gmock.h>)
  endif()
endif()

# ponk_use_precompiled(target kind): `kind` is ponk_precompiled, or ponk_precompiled_test for unit tests.
function(ponk_use_precompiled target kind)
  if(PONK_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${kind})
  endif()
endfunction()
