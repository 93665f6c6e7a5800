// SPDX-License-Identifier: Apache-2.0
#include "config/files/mount.hpp"

#include "base/text.hpp"
#include "os/file.hpp"

#include <algorithm>

namespace ponk::config {

std::string problem_of_mount(std::string_view text)
{
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return "it is not SOURCE:TARGET";
    if (!parts[0].starts_with('/')) return "the folder of the machine is not an absolute path";
    if (!parts[1].starts_with('/')) return "the folder of the container is not an absolute path";
    if (parts.size() == 3 && parts[2] != "ro" && parts[2] != "rw")
        return "only 'ro' and 'rw' can follow the second colon";
    // Two slashes in front would not be taken together.
    const auto relative =
        parts[1].substr(std::min(parts[1].find_first_not_of('/'), parts[1].size()));
    const auto target = (os::Path("/") / relative / "").lexically_normal().native();
    for (const std::string_view own : {"/azureml-run/", "/azureml-share/", "/.ponk/"})
        if (target.starts_with(own)) return "ponk itself uses that folder of the container";
    return target == "/" ? "a container's root cannot be replaced" : "";
}

}  // namespace ponk::config
