// SPDX-License-Identifier: Apache-2.0
#include "importer/recognise.hpp"

#include "base/text.hpp"
#include "importer/lines_source.hpp"
#include "importer/mlflow_database.hpp"
#include "importer/mlflow_files.hpp"
#include "importer/table_source.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>

namespace ponk::importer {

namespace {

constexpr std::array<std::pair<Format, const char*>, 4> words{{
    {Format::lines, "jsonl"},
    {Format::table, "csv"},
    {Format::mlflow_database, "mlflow-db"},
    {Format::mlflow_files, "mlflow-files"},
}};

tl::unexpected<Error> unknown(const os::Path& path, std::string_view why)
{
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("cannot import {}: {}", os::in_quotes(path), why),
                                "Give a file of 'ponk history export', a table of runs, an MLflow "
                                "database, or a folder 'mlruns'."));
}

Result<Format> recognise_folder(const os::Path& path)
{
    const auto folder = TRY(os::open_file(path, O_RDONLY | O_DIRECTORY));
    const auto entries = TRY(os::list_directory(folder.get()));
    const bool has_experiment = std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
        return entry.type == DT_DIR && os::open_beneath(folder.get(),
                                                        os::Path(entry.name) / "meta.yaml",
                                                        O_RDONLY | O_NONBLOCK);
    });
    if (has_experiment) return Format::mlflow_files;
    // A database is where the runs are; the folder beside it has only their files.
    for (const std::string_view name : {"mlflow.db", "mlruns"}) {
        if (std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
                return entry.name == name;
            }))
            return unknown(path, fmt::format("did you mean '{}' in it?", name));
    }
    const auto database = path.parent_path() / "mlflow.db";
    std::error_code problem;
    if (std::filesystem::is_regular_file(database, problem))
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("cannot import {}: it has only files of runs, which are in the "
                              "database beside it",
                              os::in_quotes(path)),
                  fmt::format("Import {}; the files are found here.", os::in_quotes(database))));
    return unknown(path, "no folder in it has a meta.yaml");
}

// What is no JSON after its brace is most likely no text at all: one word about the file says more
// than one about each of its lines.
bool begins_object(std::string_view text)
{
    text = without_byte_order_mark(text);
    if (!text.starts_with('{')) return false;
    const auto rest = trim(text.substr(1));
    return rest.empty() || rest.front() == '"' || rest.front() == '}';
}

}  // namespace

const char* to_string(Format format)
{
    for (const auto& [each, word] : words) {
        if (each == format) return word;
    }
    return "";
}

std::optional<Format> parse_format(std::string_view word)
{
    for (const auto& [format, each] : words) {
        if (word == each) return format;
    }
    return std::nullopt;
}

Result<Format> recognise(const os::Path& path)
{
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) return recognise_folder(path);
    const auto fd = TRY(os::open_regular(path));
    const auto begin = TRY(os::read_at(fd.get(), 0, 4096));
    if (begin.starts_with("SQLite format 3")) {
        constexpr std::size_t application_at = 68;
        if (begin.size() < application_at + 4 || begin.substr(application_at, 4) != "ponk")
            return Format::mlflow_database;
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("{} is a history database of ponk, not an export", os::in_quotes(path)),
            "To restore it: run 'ponk daemon stop', then replace history/history.db in ponk's "
            "folder with it. To add its runs to yours: put it into an empty PONK_HOME, and import "
            "the output of 'ponk history export --all-projects' there."));
    }
    if (begin.empty()) return unknown(path, "it is empty");
    if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff"))
        return unknown(path, "it is UTF-16; save it as UTF-8");
    if (begins_object(trim(begin))) return Format::lines;
    if (is_table(trim(begin))) return Format::table;
    return unknown(path,
                   "it is neither SQLite nor JSON Lines, nor a table with columns such as 'name', "
                   "'params.lr' and 'metrics.loss'");
}

Result<std::unique_ptr<Source>>
open_source(const os::Path& path, Format format, const std::optional<os::Path>& artifacts)
{
    switch (format) {
    case Format::lines:
    case Format::table:
        if (artifacts)
            return fail(
                ErrorKind::invalid_argument,
                "JSON Lines and tables have no files: '--artifacts' is only for MLflow stores");
        return format == Format::lines ? open_lines(path) : open_table(path);
    case Format::mlflow_database:
        return open_mlflow_database(path, artifacts);
    case Format::mlflow_files:
        break;
    }
    return open_mlflow_files(path, artifacts);
}

}  // namespace ponk::importer
