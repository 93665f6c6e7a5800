// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/shared_directory.hpp"

#include "executor/run_directory/control_directory.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>

namespace ponk::executor {

namespace {

// Reading a file takes about ten microseconds.
constexpr int most_files = 2000;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 20;

// What a program may be written in; data would only take time.
bool may_be_program(std::string_view name)
{
    const auto dot = name.rfind('.');
    if (dot == name.npos) return true;
    constexpr std::string_view endings[] = {
        ".py", ".ipynb", ".sh", ".bash", ".R", ".r", ".jl", ".pl", ".lua", ".js", ".yml", ".yaml"};
    return std::ranges::find(endings, name.substr(dot)) != std::end(endings);
}

bool names_variable(std::string_view text)
{
    return text.find(shared_variable) != text.npos;
}

bool words_name_variable(const model::Program& program)
{
    const auto named = [](const std::vector<std::string>& words) {
        return std::ranges::any_of(words, names_variable);
    };
    return named(program.arguments) || named(program.command);
}

// True also when there is too much to look at.
bool files_name_variable(const Path& work)
{
    const auto root = os::open_file(work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!root) return true;
    std::vector<std::string> waiting{""};
    os::NameList list;
    int files = 0;
    while (!waiting.empty()) {
        const auto here = std::move(waiting.back());
        waiting.pop_back();
        const os::Fd folder(os::open_folder_beneath(root->get(), here));
        if (!folder || list.read(folder.get()) != 0) continue;
        for (const auto& name : list.names()) {
            if (name.type == DT_DIR) {
                waiting.push_back((here.empty() ? "" : here + "/") + std::string(name.text));
                continue;
            }
            if (name.type != DT_REG || !may_be_program(name.text)) continue;
            if (++files > most_files) return true;
            const os::Fd file(
                ::openat(folder.get(), name.text.data(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
            if (!file) continue;
            const auto text = os::read_at(file.get(), 0, largest_file);
            if (text && names_variable(*text)) return true;
        }
    }
    return false;
}

}  // namespace

bool wants_shared_directory(const Job& job)
{
    const auto& runtime = job.spec.runtime;
    if (runtime.shared_directory.empty()) return false;
    return !runtime.named_shared_directory.empty() || is_there(runtime.shared_directory) ||
           words_name_variable(job.spec.program) ||
           files_name_variable(job.context.directory.work());
}

Result<> make_shared_directory(const Job& job)
{
    if (!wants_shared_directory(job)) return {};
    return os::make_directories(job.spec.runtime.shared_directory, 0755);
}

}  // namespace ponk::executor
