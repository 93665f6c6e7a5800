# SPDX-License-Identifier: Apache-2.0
# ponk_embed_samples(target): packs samples/ into one zip (stored, sorted, fixed times: the same tree
# gives the same bytes) and links it into `target` as ponk_samples, ponk_samples_end.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(ponk_embed_samples target)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/samples.zip)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/samples/*)
  list(FILTER files EXCLUDE REGEX "/(outputs|__pycache__)/")
  add_custom_command(OUTPUT ${archive}
    COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/pack_samples.py
            ${CMAKE_SOURCE_DIR}/samples ${archive}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/pack_samples.py
    COMMENT "Packing samples" VERBATIM)
  set_source_files_properties(${archive} PROPERTIES GENERATED ON)
  target_sources(${target} PRIVATE ${archive})
  ponk_embed(${target} ponk_samples ${archive})
endfunction()
