# SPDX-License-Identifier: Apache-2.0
# lib_sqlite: the amalgamation pinned in tools/fetch_sqlite.py, else the system's archive. Versions
# up to 3.51.2 can damage a database when two connections checkpoint and write at once; with the
# system's we rely on our rule that one connection does both.
find_package(Python3 QUIET COMPONENTS Interpreter)
option(PONK_SYSTEM_SQLITE "Use the system's SQLite without trying to fetch a current one" OFF)

set(ponk_sqlite_folder "")
if(Python3_FOUND AND NOT PONK_SYSTEM_SQLITE)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/fetch_sqlite.py
    OUTPUT_VARIABLE ponk_sqlite_folder OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE ponk_sqlite_status)
  if(ponk_sqlite_status EQUAL 3)
    set(ponk_sqlite_folder "")
  elseif(NOT ponk_sqlite_status EQUAL 0)
    message(FATAL_ERROR "tools/fetch_sqlite.py failed; see its message above")
  endif()
endif()

if(ponk_sqlite_folder)
  add_library(lib_sqlite STATIC ${ponk_sqlite_folder}/sqlite3.c)
  target_include_directories(lib_sqlite SYSTEM PUBLIC ${ponk_sqlite_folder})
  # Optimised even in Debug: it is tested by its authors, and tests here wait for it.
  target_compile_options(lib_sqlite PRIVATE -w -O2)
  target_compile_definitions(lib_sqlite
    PRIVATE
      SQLITE_THREADSAFE=2                 # a connection belongs to one thread at a time
      SQLITE_DQS=0                        # "text" is a name, never a string
      SQLITE_DEFAULT_SYNCHRONOUS=3
      SQLITE_DEFAULT_WAL_SYNCHRONOUS=2    # every commit reaches the disk
      SQLITE_DEFAULT_FOREIGN_KEYS=1
      SQLITE_DEFAULT_FILE_PERMISSIONS=0600
      SQLITE_DEFAULT_MEMSTATUS=0
      SQLITE_DEFAULT_MMAP_SIZE=0
      SQLITE_MAX_MMAP_SIZE=0              # a stray write could reach the file through a mapping
      SQLITE_LIKE_DOESNT_MATCH_BLOBS
      SQLITE_OMIT_LOAD_EXTENSION
      SQLITE_OMIT_SHARED_CACHE
      SQLITE_OMIT_DEPRECATED
      SQLITE_USE_ALLOCA
      HAVE_USLEEP=1
      HAVE_FDATASYNC=1
      HAVE_STRERROR_R=1
      HAVE_LOCALTIME_R=1
      HAVE_GMTIME_R=1
    PUBLIC PONK_BUNDLED_SQLITE=1)
else()
  message(NOTICE
    "SQLite: the current release could not be fetched; using the system's libsqlite3.a. It may have the "
    "WAL-reset bug (fixed in 3.51.3). Configure again with network to get the pinned one.")
  ponk_static_library(lib_sqlite libsqlite3.a sqlite3.h)
  target_link_libraries(lib_sqlite INTERFACE m)
endif()
target_link_libraries(lib_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
