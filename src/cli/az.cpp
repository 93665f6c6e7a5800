// SPDX-License-Identifier: Apache-2.0
#include "cli/az.hpp"

#include "base/text.hpp"
#include "os/process.hpp"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace ponk::cli {

bool started_as_az(const char* program)
{
    const std::string_view path = program;
    return path.substr(path.rfind('/') + 1) == "az";
}

Error pass_to_az(char** argv)
{
    std::error_code problem;
    const os::Path self = std::filesystem::canonical("/proc/self/exe", problem);
    const char* variable = ::getenv("PATH");
    for (const std::string& folder : split(variable != nullptr ? variable : "", ':')) {
        const os::Path candidate = os::Path(folder.empty() ? "." : folder) / "az";
        if (::access(candidate.c_str(), X_OK) != 0) continue;
        if (std::filesystem::is_directory(candidate, problem)) continue;
        if (std::filesystem::equivalent(candidate, self, problem)) continue;
        ::execv(candidate.c_str(), argv);
    }
    return {ErrorKind::not_found,
            "no other 'az' is on PATH to run this command",
            "Under the name 'az', ponk only runs 'az ml …'."};
}

}  // namespace ponk::cli
