// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/text/document.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::importer {

// The files of an MLflow file store. Paths are below its root; links lead nowhere, and every file
// has a limit. Any thread may call.
class StoreFiles {
public:
    static Result<StoreFiles> open(const os::Path& root);

    // For messages: "mlruns/0/meta.yaml".
    [[nodiscard]] std::string shown(const std::string& path) const;
    [[nodiscard]] bool has(const std::string& path) const;
    // Names of folders in a folder, sorted; none when it is not there.
    [[nodiscard]] Result<std::vector<std::string>> folders(const std::string& path) const;
    [[nodiscard]] Result<std::string> read(const std::string& path, std::uint64_t limit) const;
    [[nodiscard]] Result<os::Fd> open_folder(const std::string& path) const;

    // Every file below a folder, with its path from there: names may have slashes. Nothing when
    // there is no such folder. A link is `invalid_argument`.
    using OnFile = std::function<Result<>(const std::string& name, const std::string& path)>;
    Result<> walk(const std::string& path, const OnFile& on_file) const;
    // Each file is a key, what it holds the value.
    [[nodiscard]] Result<store::Pairs> pairs(const std::string& path) const;

private:
    Result<> walk_level(const std::string& path,
                        const std::string& name,
                        std::size_t depth,
                        const OnFile& on_file) const;

    os::Path root_;
    os::Fd fd_;
};

// A meta.yaml.
class MetaFile {
public:
    // `invalid_argument` names file, line and column.
    static Result<MetaFile> read(const StoreFiles& files, const std::string& path);

    // Empty when there is none, or it is null.
    [[nodiscard]] Result<std::string> text(std::string_view key) const;
    [[nodiscard]] Result<std::optional<std::string>> find_text(std::string_view key) const;
    // 0 when there is none, or it is null.
    [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;
    [[nodiscard]] Result<store::Pairs> pairs(std::string_view key) const;

private:
    [[nodiscard]] tl::unexpected<Error>
    wrong(const config::Place& place, std::string_view key, std::string_view wanted) const;

    std::string shown_;
    config::Node root_;
};

}  // namespace ponk::importer
