# SPDX-License-Identifier: Apache-2.0
# Most of what a compiler does for one of our files it does for the next one again: reading headers, and
# making the same code from the same templates. So where single files are seldom compiled, a module's
# files are compiled in a few groups. Not in the dev preset, where one changed file must be quick and a
# forgotten include must be noticed.
option(PONK_TOGETHER "Compile a module's files in a few groups" OFF)

# ponk_compile_together(target file…): files whose names meet do not come into one group. Groups are made when
# CMake configures: where names of a file that changed meet others now, configure again.
function(ponk_compile_together target)
  list(FILTER ARGN INCLUDE REGEX "\\.cpp$")
  if(NOT PONK_TOGETHER OR NOT ARGN)
    return()
  endif()
  set(tool ${CMAKE_SOURCE_DIR}/tools/group_sources.py)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${tool} 12 ${ARGN}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  set(number 0)
  foreach(group IN LISTS groups)
    string(REPLACE "," ";" files "${group}")
    list(LENGTH files count)
    if(count GREATER 1)
      math(EXPR number "${number} + 1")
      set_source_files_properties(${files} PROPERTIES UNITY_GROUP ${number})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
