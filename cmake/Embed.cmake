# SPDX-License-Identifier: Apache-2.0
# ponk_embed(target symbol file): link `file` into `target` as read-only bytes
# (extern "C" const unsigned char symbol[], symbol_end[]), by .incbin so that size costs nothing.
function(ponk_embed target symbol file)
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.S)
  file(WRITE ${assembly}.in
    "    .section .rodata\n    .global ${symbol}\n    .global ${symbol}_end\n    .balign 16\n"
    "${symbol}:\n    .incbin \"${file}\"\n${symbol}_end:\n    .byte 0\n"
    "    .section .note.GNU-stack,\"\",%progbits\n")
  file(COPY_FILE ${assembly}.in ${assembly} ONLY_IF_DIFFERENT)
  target_sources(${target} PRIVATE ${assembly})
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${file})
endfunction()
