// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace ponk::importer {

// Which tables and columns a database of MLflow has: versions differ, and what is there says more
// than the number of a version.
class MlflowSchema {
public:
    static Result<MlflowSchema> read(db::Connection& database);

    [[nodiscard]] bool has(std::string_view table) const;
    [[nodiscard]] bool has(std::string_view table, std::string_view column) const;
    // The column's name, or `otherwise` where the table has none of that name.
    [[nodiscard]] std::string
    column(std::string_view table, std::string_view name, std::string_view otherwise) const;
    // "WHERE workspace = 'default'" where there are workspaces, else "WHERE 1".
    [[nodiscard]] std::string own_workspace(std::string_view table) const;

private:
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> tables_;
};

}  // namespace ponk::importer
