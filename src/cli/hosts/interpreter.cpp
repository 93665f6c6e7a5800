// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/interpreter.hpp"

#include "base/text.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace ponk::cli {
namespace {

bool is_below(const os::Path& folder, const os::Path& file)
{
    const auto below = file.lexically_relative(folder);
    return !below.empty() && *below.begin() != "..";
}

// Also by a link on either side: a .venv of the project may be one that leads out of it, and its
// programs read the files beside their own name.
bool is_of_project(const os::Path& project, const os::Path& program)
{
    std::error_code ignored;
    const auto real_project = std::filesystem::weakly_canonical(project, ignored);
    const auto real_folder = std::filesystem::weakly_canonical(program.parent_path(), ignored);
    const auto real_program = std::filesystem::weakly_canonical(program, ignored);
    return is_below(project.lexically_normal(), program.lexically_normal()) ||
           is_below(real_project, real_folder / program.filename()) ||
           is_below(real_project, real_program);
}

// "python", "python3.9": looked for on PATH, which is the user's.
bool is_plain_name(std::string_view name)
{
    return name.starts_with("python") &&
           name.substr(6).find_first_not_of("0123456789.") == std::string_view::npos;
}

Error none_there(const config::ComputeTarget& target, const std::string& name)
{
    return {ErrorKind::not_found,
            fmt::format("target '{}': no Python '{}'", target.name, printable(name)),
            target.file.empty() ? "Install python3, or put it on PATH."
                                : fmt::format("Set 'pythonLocation' in '{}'.", target.file)};
}

}  // namespace

Result<Interpreter> find_interpreter(const os::Path& project, const config::ComputeTarget& target)
{
    std::string name =
        target.python_location.value.empty() ? "python" : target.python_location.value;
    if (name.starts_with("~/")) name = (os::home_directory() / name.substr(2)).string();
    const bool plain = is_plain_name(name);
    const bool is_path = name.find('/') != std::string::npos;
    const char* variable = ::getenv("PATH");
    const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
    auto program = os::find_program(is_path ? (project / name).string() : name, path);
    if (!program && name == "python") program = os::find_program("python3", path);
    if (!program) return tl::unexpected(none_there(target, name));
    if (!plain || is_of_project(project, *program))
        return Interpreter{*program, Interpreter::Owner::project};
    const auto output = TRY(os::run({.argv = {program->string(), "--version"}, .directory = "/"},
                                    after(std::chrono::seconds(20)),
                                    {})
                                .map_error(while_doing("start {}", os::in_quotes(*program))));
    if (output.exit.status() != 0) {
        return fail(ErrorKind::unavailable,
                    "{} --version ended with {}: {}",
                    os::in_quotes(*program),
                    output.exit.status(),
                    printable(trim(output.err)));
    }
    // Python 2 prints its version on standard error.
    std::string version(trim(output.out.empty() ? output.err : output.out));
    return Interpreter{*program, Interpreter::Owner::user, std::move(version)};
}

}  // namespace ponk::cli
