// SPDX-License-Identifier: Apache-2.0
#include "audit/log_files.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::audit {

namespace {

constexpr std::string_view ending = ".jsonl";
constexpr std::size_t piece = std::size_t{1} << 20;
// No record is nearly as long.
constexpr std::size_t longest_line = std::size_t{1} << 20;

}  // namespace

Path folder_of(const Path& home)
{
    return home / "audit";
}

Path head_file(const Path& home)
{
    return home / "audit.head";
}

Path file_of(const Path& home, std::int64_t number)
{
    return folder_of(home) / fmt::format("{:06}{}", number, ending);
}

Result<std::vector<LogFile>> list_files(const Path& home)
{
    std::vector<LogFile> files;
    const auto entries = os::list_directory(folder_of(home));
    if (!entries && entries.error().kind() == ErrorKind::not_found) return files;
    for (const auto& entry : TRY(entries)) {
        const std::string_view name = entry.name;
        if (entry.type != DT_REG || !name.ends_with(ending)) continue;
        const auto number = parse_integer(name.substr(0, name.size() - ending.size()));
        if (!number || *number < 1) continue;
        LogFile file{folder_of(home) / entry.name, *number};
        struct stat info {};
        if (::stat(file.path.c_str(), &info) != 0) continue;  // removed since it was listed
        file.size = static_cast<std::uint64_t>(info.st_size);
        file.modified = std::int64_t{info.st_mtim.tv_sec} * 1000;
        files.push_back(std::move(file));
    }
    std::sort(files.begin(), files.end(), [](const LogFile& left, const LogFile& right) {
        return left.number < right.number;
    });
    return files;
}

Result<std::string>
for_each_line(const Path& path,
              const std::function<Result<>(std::string_view line, std::int64_t number)>& visit)
{
    const auto file = TRY(os::open_regular(path, os::Links::refuse));
    std::string rest;
    std::uint64_t offset = 0;
    std::int64_t number = 0;
    for (;;) {
        const auto bytes = TRY(os::read_at(file.get(), offset, piece));
        if (bytes.empty()) return rest;
        offset += bytes.size();
        rest += bytes;
        std::size_t from = 0;
        for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', from)) {
            TRY(visit(std::string_view(rest).substr(from, end - from), ++number));
            from = end + 1;
        }
        rest.erase(0, from);
        if (rest.size() > longest_line)
            return fail(ErrorKind::damaged,
                        "{}:{}: the line has more than {} bytes",
                        path.native(),
                        number + 1,
                        longest_line);
    }
}

}  // namespace ponk::audit
