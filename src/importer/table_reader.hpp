// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/line_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::importer {

using Cells = std::vector<std::string>;

// Rows of a table in text (RFC 4180): cells between commas, semicolons or tabs, whichever the
// heading has most of or a line "sep=;" before it says; quoted ones may hold anything. One thread
// at a time.
class TableReader {
public:
    static Result<TableReader> open(const os::Path& file);

    // The first row.
    [[nodiscard]] const Cells& heading() const noexcept { return heading_; }

    [[nodiscard]] char separator() const noexcept { return separator_; }

    // The next row that is not empty: its cells, or why it is none. Nothing at the end.
    Result<std::optional<Result<Cells>>> next();

    // Where the row that was read last begins.
    [[nodiscard]] const std::string& where() const noexcept { return where_; }
    [[nodiscard]] double fraction() const { return lines_.fraction(); }

private:
    explicit TableReader(LineReader lines) : lines_(std::move(lines)) {}

    Result<bool> next_text();
    [[nodiscard]] Result<Cells> split() const;

    LineReader lines_;
    Cells heading_;
    char separator_ = ',';
    std::string text_;  // of the row
    std::string where_;
};

// The cells of the heading that begins a text.
Result<Cells> find_heading(std::string_view text);

}  // namespace ponk::importer
