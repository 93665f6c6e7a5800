// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/project_files.hpp"

#include "base/id.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "config/project/write.hpp"
#include "os/git_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view conda_text =
    R"(# Packages of the environments that ponk builds for this project (containers, remote machines).
# Local runs use your own Python.
name: project_environment
dependencies:
  - python=3.11
  - pip:
      - numpy
)";

Result<> copy_file(const fs::directory_entry& entry, const os::Path& target)
{
    std::error_code problem;
    if (entry.is_symlink(problem)) {
        fs::copy_symlink(entry.path(), target, problem);
        if (problem)
            return fail_errno(problem.value(), "copy link {}", os::in_quotes(entry.path()));
        return {};
    }
    if (!entry.is_regular_file(problem)) return {};  // sockets and pipes are no part of a project
    const os::Fd from = TRY(os::open_file(entry.path(), O_RDONLY));
    struct stat info {};
    if (::fstat(from.get(), &info) != 0)
        return fail_errno(errno, "read {}", os::in_quotes(entry.path()));
    const mode_t mode = (info.st_mode & 0100U) != 0 ? 0755 : 0644;
    const os::Fd to = TRY(os::open_file(target, O_WRONLY | O_CREAT | O_EXCL, mode));
    return os::copy_contents(from.get(), to.get());
}

Result<>
copy_below(const os::Path& from, const os::Path& to, const std::vector<std::string>& left_out)
{
    std::error_code problem;
    fs::directory_iterator entries(from, problem);
    if (problem) return fail_errno(problem.value(), "read folder {}", os::in_quotes(from));
    for (const fs::directory_entry& entry : entries) {
        const std::string name = entry.path().filename().string();
        if (std::ranges::find(left_out, name) != left_out.end()) continue;
        if (entry.is_directory(problem) && !entry.is_symlink(problem)) {
            TRY(os::make_directories(to / name, 0755));
            TRY(copy_below(entry.path(), to / name, {}));
        } else {
            TRY(copy_file(entry, to / name));
        }
    }
    return {};
}

std::string fresh_guid()
{
    const std::string hex = RunId::make().text();
    return fmt::format("{}-{}-{}-{}-{}",
                       hex.substr(0, 8),
                       hex.substr(8, 4),
                       hex.substr(12, 4),
                       hex.substr(16, 4),
                       hex.substr(20));
}

}  // namespace

Result<>
copy_project(const os::Path& from, const os::Path& to, const std::vector<std::string>& left_out)
{
    return copy_below(from, to, left_out);
}

Result<> complete_project(const os::Path& folder, const std::string& name)
{
    std::error_code problem;
    const os::Path config = folder / "aml_config";
    if (!fs::exists(config, problem)) {
        TRY(os::make_directories(config, 0755));
        config::ComputeTarget target = config::built_in_local();
        target.name = "local";
        TRY(config::write_compute_file(folder, target));
        config::RunConfiguration configuration = config::built_in_run_configuration();
        configuration.name = "local";
        TRY(config::write_runconfig_file(folder, configuration));
        TRY(os::replace_file(config / "conda_dependencies.yml", conda_text, 0644, os::Durable::no));
    }
    TRY(config::require_own_folder(folder, ".azureml"));
    TRY(os::make_directories(folder / ".azureml", 0755));
    const JsonObject identity{{"Id", fresh_guid()}, {"Scope", "/projects/" + name}};
    return os::replace_file(folder / ".azureml/project.json",
                            to_json(identity, JsonStyle::pretty) + "\n",
                            0644,
                            os::Durable::no);
}

Result<> clone_repository(const std::string& url, const os::Path& to)
{
    auto command = os::git_clone(url, to);
    command.descriptors = {{STDERR_FILENO, STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
    const os::Child git =
        TRY(os::spawn(command).map_error(while_doing("clone '{}'", printable(url))));
    const os::Exit ended = TRY(os::wait_for_exit(git, after(std::chrono::hours(6)), {}));
    if (ended.status() != 0) {
        return tl::unexpected(Error(
            ErrorKind::unavailable,
            fmt::format("git could not clone '{}' (exit code {})", printable(url), ended.status()),
            "See the messages of git above."));
    }
    return {};
}

bool is_repository_url(const std::string& text)
{
    if (text.find("://") != text.npos) return true;
    // git@host:path, unless a slash before the colon makes it a file name
    const std::size_t colon = text.find(':');
    return colon != text.npos && colon > 0 && text.find('/') > colon;
}

}  // namespace ponk::cli
