# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, found once and linked statically where a machine may lack them.
find_package(PkgConfig REQUIRED)

# fmt: Debian ships no archive, so the one compiled file lives in base/.
find_path(FMT_INCLUDE fmt/format.h REQUIRED)
add_library(ponk_fmt INTERFACE)
target_include_directories(ponk_fmt SYSTEM INTERFACE ${FMT_INCLUDE})

function(ponk_static_library name archive header)
  find_library(${name}_ARCHIVE ${archive} REQUIRED)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${${name}_INCLUDE})
  target_link_libraries(${name} INTERFACE ${${name}_ARCHIVE})
endfunction()

ponk_static_library(lib_crypto libcrypto.a openssl/evp.h)
ponk_static_library(lib_zstd libzstd.a zstd.h)
ponk_static_library(lib_fyaml libfyaml.a libfyaml.h)
ponk_static_library(lib_pugixml libpugixml.a pugixml.hpp)
ponk_static_library(lib_re2 libre2.a re2/re2.h)
find_package(Threads REQUIRED)
target_link_libraries(lib_re2 INTERFACE Threads::Threads)
target_link_libraries(lib_crypto INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
# Known as an archive that needs the other one, or the linker would see them in any order.
find_library(lib_ssl_ARCHIVE libssl.a REQUIRED)
add_library(lib_ssl STATIC IMPORTED GLOBAL)
set_target_properties(lib_ssl PROPERTIES
  IMPORTED_LOCATION ${lib_ssl_ARCHIVE} INTERFACE_LINK_LIBRARIES "lib_crypto")

# Boost.Asio and Beast: headers only, compiled once in net/.
find_path(BOOST_INCLUDE boost/beast/src.hpp REQUIRED)
add_library(lib_boost INTERFACE)
target_include_directories(lib_boost SYSTEM INTERFACE ${BOOST_INCLUDE})
target_compile_definitions(lib_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_BEAST_USE_STD_STRING_VIEW)

# minizip, for the diagnostics archive.
ponk_static_library(lib_z libz.a zlib.h)
ponk_static_library(lib_zip libminizip.a minizip/zip.h)
target_link_libraries(lib_zip INTERFACE lib_z)
