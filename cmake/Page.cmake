# SPDX-License-Identifier: Apache-2.0
# ponk_embed_page(target): builds the page in web/ (tools/build_page.py), and links it into `target` as
# ponk_page, ponk_page_end, and the report without data (docs/design/report.md) as ponk_report, ponk_report_end. Only programs that people get have it by default: others need no Node.js.
set(page_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(page_default ON)
endif()
option(PONK_PAGE "Build the page in web/ and embed it (needs Node.js, or PyPI)" ${page_default})

function(ponk_embed_page target)
  set(packed ${CMAKE_CURRENT_BINARY_DIR}/page.pack)
  set(report ${CMAKE_CURRENT_BINARY_DIR}/report.html)
  set(files)
  if(PONK_PAGE)
    # Not all of web/: an editor's node_modules has ten thousand files.
    file(GLOB files CONFIGURE_DEPENDS LIST_DIRECTORIES OFF ${CMAKE_SOURCE_DIR}/web/* ${CMAKE_SOURCE_DIR}/web/.npmrc)
    file(GLOB_RECURSE more CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/build/*
         ${CMAKE_SOURCE_DIR}/web/locales/*)
    list(APPEND files ${more})
    set(arguments ${CMAKE_SOURCE_DIR}/web)
  else()
    set(arguments --without "the build option PONK_PAGE is off")
  endif()
  add_custom_command(OUTPUT ${packed} ${report}
    COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/build_page.py --out ${packed}
            --report ${report} --cache ${CMAKE_SOURCE_DIR}/.cache ${arguments}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/build_page.py
    COMMENT "Building the page" VERBATIM)
  set_source_files_properties(${packed} ${report} PROPERTIES GENERATED ON)
  target_sources(${target} PRIVATE ${packed} ${report})
  ponk_embed(${target} ponk_page ${packed})
  ponk_embed(${target} ponk_report ${report})
endfunction()
