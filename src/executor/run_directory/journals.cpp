// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/journals.hpp"

#include "executor/run_directory/control_directory.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <dirent.h>

namespace ponk::executor {

bool Journals::is_name(std::string_view name)
{
    const auto fits = [](char c) {
        return c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '/';
    };
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), fits);
}

Journals Journals::of(const RunDirectory& directory)
{
    auto folder = RunFolder::open(directory.root(), RunDirectory::task_part() / control::journal);
    if (!folder) return Journals(std::nullopt);
    return Journals(std::move(*folder));
}

Journals::Found Journals::look() const
{
    Found out;
    const auto entries =
        folder_ ? os::list_directory(folder_->fd()) : Result<std::vector<os::Entry>>();
    if (!entries) return out;
    for (const auto& entry : *entries) {
        if (entry.type != DT_REG || !is_name(entry.name)) continue;
        if (out.files.size() == most) {
            ++out.left_out;
            continue;
        }
        os::FileStatus status;
        if (os::status_at(folder_->fd(), entry.name.c_str(), status) != 0 || !status.is_file())
            continue;
        if (status.size >= longest) out.cut = entry.name;
        out.files.push_back({entry.name, std::min(status.size, longest)});
    }
    return out;
}

Result<os::Fd> Journals::open(const std::string& name) const
{
    if (!folder_ || !is_name(name))
        return fail(ErrorKind::not_found, "there is no journal {}", os::in_quotes(name));
    return os::open_regular(folder_->path() / name, os::Links::refuse);
}

}  // namespace ponk::executor
