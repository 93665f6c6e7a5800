// SPDX-License-Identifier: Apache-2.0
#include "os/contained_path.hpp"

namespace ponk::os {
namespace {

bool is_below(const Path& root, const Path& path)
{
    const auto relative = path.lexically_relative(root);
    return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Result<Path> contained_path(const Path& root, const Path& relative)
{
    std::error_code problem;
    const auto base = std::filesystem::canonical(root, problem);
    if (problem) return fail_errno(problem.value(), "{}", in_quotes(root));
    // An absolute name replaces the root, and is seen to lie elsewhere.
    const auto path = (root / relative).lexically_normal();
    const auto named = (base / relative).lexically_normal();
    if (!is_below(root.lexically_normal(), path) && !is_below(base, named))
        return fail(
            ErrorKind::invalid_argument, "{} is outside {}", in_quotes(relative), in_quotes(root));
    const auto real = std::filesystem::canonical(path, problem);
    if (problem) return fail_errno(problem.value(), "{}", in_quotes(path));
    if (!is_below(base, real)) {
        return fail(ErrorKind::invalid_argument,
                    "{} leads to {}, outside {}",
                    in_quotes(relative),
                    in_quotes(real),
                    in_quotes(root));
    }
    return path;
}

}  // namespace ponk::os
