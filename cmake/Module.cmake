# SPDX-License-Identifier: Apache-2.0
# ponk_module(name SOURCES a.cpp… [TESTS a_test.cpp…] [DEPENDS module…] [LIBRARIES target…])
# A folder below src/ is one layer, one namespace and one static library ponk_<name>; its unit
# tests are one program. LIBRARIES are third-party and stay private to the folder.
add_custom_target(unit_tests)  # all unit tests, and nothing else: what the address sanitizer needs
# Those of modules in which threads meet: what the thread sanitizer needs. The others compute values
# on the thread that asks.
add_custom_target(thread_tests)
set(ponk_without_threads cli config model output query)

function(ponk_module name)
  cmake_parse_arguments(M "" "" "SOURCES;TESTS;DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" target ponk_${name})
  list(TRANSFORM M_DEPENDS PREPEND ponk_ OUTPUT_VARIABLE depends)
  string(REPLACE "/" "_" depends "${depends}")
  add_library(${target} STATIC ${M_SOURCES})
  target_link_libraries(${target} PUBLIC ponk_options ${depends} PRIVATE ${M_LIBRARIES})
  ponk_use_precompiled(${target} ponk_precompiled)
  if(PONK_TESTS AND M_TESTS)
    add_executable(${target}_test ${M_TESTS})
    target_link_libraries(${target}_test PRIVATE ${target} GTest::gmock GTest::gtest_main ${M_LIBRARIES})
    ponk_use_precompiled(${target}_test ponk_precompiled_test)
    add_dependencies(unit_tests ${target}_test)
    set(label unit)
    if(NOT name IN_LIST ponk_without_threads)
      add_dependencies(thread_tests ${target}_test)
      set(label unit-threads)  # one word: a list would not survive the discovery
    endif()
    gtest_discover_tests(${target}_test DISCOVERY_TIMEOUT 60
      TEST_PREFIX "${name}." PROPERTIES LABELS ${label})
  endif()
endfunction()
