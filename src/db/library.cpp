// SPDX-License-Identifier: Apache-2.0
#include "db/library.hpp"

#include <sqlite3.h>

namespace ponk::db {

std::string LibraryVersion::text() const
{
    return "SQLite " + version + " (" + source + ")";
}

LibraryVersion library_version()
{
#ifdef PONK_BUNDLED_SQLITE
    const char* source = "bundled";
#else
    const char* source = "system";
#endif
    // 3.52.0 was withdrawn by its authors.
    const int number = ::sqlite3_libversion_number();
    return {::sqlite3_libversion(), source, number >= 3051003 && number != 3052000};
}

}  // namespace ponk::db
