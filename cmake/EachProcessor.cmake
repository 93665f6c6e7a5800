# SPDX-License-Identifier: Apache-2.0
# ponk_program_for_each_processor(NAME FLAGS … SOURCES … LIBRARIES … WITHOUT text): a small program of
# ours for every processor that a target may have, from one build, as NAME-x86_64 and NAME-aarch64 in
# the current binary folder. Where a compiler is missing the file is empty and `text` says what that
# means.
function(ponk_program_for_each_processor name)
  cmake_parse_arguments(arg "" "WITHOUT" "FLAGS;SOURCES;LIBRARIES" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  set(flags -std=c++20 -O2 -g0 -s -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffunction-sections
    -Wl,--gc-sections -Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${PONK_WERROR}>:-Werror>
    -I${CMAKE_SOURCE_DIR}/src ${arg_FLAGS})
  set(binaries)
  foreach(processor x86_64 aarch64)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL processor)
      set(compiler ${CMAKE_CXX_COMPILER})
    else()
      find_program(PONK_CROSS_${processor} ${processor}-linux-gnu-g++)
      set(compiler ${PONK_CROSS_${processor}})
    endif()
    set(binary ${CMAKE_CURRENT_BINARY_DIR}/${name}-${processor})
    if(compiler)
      add_custom_command(OUTPUT ${binary} VERBATIM COMMAND_EXPAND_LISTS
        COMMAND ${compiler} ${flags} ${sources} -o ${binary} ${arg_LIBRARIES}
        DEPENDS ${sources} ${headers} ${CMAKE_CURRENT_LIST_FILE} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        COMMENT "Building ${name} for ${processor}")
    else()
      message(STATUS "no compiler for ${processor}: ${arg_WITHOUT}")
      add_custom_command(OUTPUT ${binary} COMMAND ${CMAKE_COMMAND} -E touch ${binary})
    endif()
    list(APPEND binaries ${binary})
  endforeach()
  string(REPLACE - _ target ${name})
  add_custom_target(${target} DEPENDS ${binaries})
endfunction()
