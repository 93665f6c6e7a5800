# SPDX-License-Identifier: Apache-2.0
# ponk_module(name SOURCES a.cpp… [TESTS a_test.cpp…] [DEPENDS module…] [LIBRARIES target…])
# A folder below src/ is one layer, one namespace and one static library ponk_<name>; its unit
# tests are one program. LIBRARIES are third-party and stay private to the folder.
add_custom_target(unit_tests)  # all unit tests, and nothing else
# These and the programs of other suites: what `make test` builds, under the address sanitizer.
add_custom_target(test_programs)
add_dependencies(test_programs unit_tests)
# Those of modules in which threads meet: what the thread sanitizer needs. The others compute values
# on the thread that asks.
add_custom_target(thread_tests)
set(ponk_without_threads cli config model output query)
# Those that no fuzz target reaches, and need no code that counts what it reaches.
set(ponk_without_fuzzing agent api daemon engine gpu_monitor)
# Of which a release's small programs use a few files: in groups they would carry all the others, and OpenSSL.
set(ponk_apart_in_release base net)
# What -fsanitize=fuzzer-no-link stands for, said so that all can share one precompiled header.
set(ponk_coverage -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)

# ponk_add_tests(name program label [shards]): the cases of a test program, in a few processes; one process
# per case would start a thousand programs of many megabytes. A failing one says which case failed.
function(ponk_add_tests name program label)
  set(shards 1)
  if(ARGC GREATER 3)
    set(shards ${ARGV3})
  endif()
  foreach(shard RANGE 1 ${shards})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}.${shard} COMMAND ${program})
    set_tests_properties(${name}.${shard} PROPERTIES LABELS ${label} TIMEOUT 900
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

function(ponk_module name)
  cmake_parse_arguments(M "" "" "SOURCES;TESTS;DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" target ponk_${name})
  list(TRANSFORM M_DEPENDS PREPEND ponk_ OUTPUT_VARIABLE depends)
  string(REPLACE "/" "_" depends "${depends}")
  add_library(${target} STATIC ${M_SOURCES})
  target_link_libraries(${target} PUBLIC ponk_options ${depends} PRIVATE ${M_LIBRARIES})
  ponk_use_precompiled(${target} ponk_precompiled)
  if(NOT (CMAKE_BUILD_TYPE STREQUAL "Release" AND name IN_LIST ponk_apart_in_release))
    ponk_compile_together(${target} ${M_SOURCES})
  endif()
  if(PONK_FUZZ AND NOT name IN_LIST ponk_without_fuzzing)
    target_compile_options(${target} PRIVATE ${ponk_coverage})
  endif()
  if(PONK_TESTS AND M_TESTS)
    add_executable(${target}_test ${M_TESTS})
    target_link_libraries(${target}_test PRIVATE ${target} GTest::gmock GTest::gtest_main ${M_LIBRARIES})
    ponk_use_precompiled(${target}_test ponk_precompiled_test)
    ponk_compile_together(${target}_test ${M_TESTS})
    add_dependencies(unit_tests ${target}_test)
    set(label unit)
    if(NOT name IN_LIST ponk_without_threads)
      add_dependencies(thread_tests ${target}_test)
      set(label unit-threads)
    endif()
    list(LENGTH M_TESTS files)
    math(EXPR shards "(${files} + 4) / 5")
    ponk_add_tests(${name} ${target}_test ${label} ${shards})
  endif()
endfunction()
