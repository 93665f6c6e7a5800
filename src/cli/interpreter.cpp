// SPDX-License-Identifier: Apache-2.0
#include "cli/interpreter.hpp"

#include "base/text.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace ponk::cli {

Result<Interpreter> find_interpreter(const config::ComputeTarget& target)
{
    std::string name =
        target.python_location.value.empty() ? "python" : target.python_location.value;
    if (name.starts_with("~/")) name = (os::home_directory() / name.substr(2)).string();
    const char* variable = ::getenv("PATH");
    const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
    auto program = os::find_program(name, path);
    if (!program && name == "python") program = os::find_program("python3", path);
    if (!program) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("target '{}': no Python '{}'", target.name, printable(name)),
                  target.file.empty() ? "Install python3, or put it on PATH."
                                      : fmt::format("Set 'pythonLocation' in '{}'.", target.file)));
    }
    const auto output =
        TRY(os::run({.argv = {program->string(), "--version"}}, after(std::chrono::seconds(20)), {})
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
    return Interpreter{*program, std::move(version)};
}

}  // namespace ponk::cli
