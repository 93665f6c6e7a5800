// SPDX-License-Identifier: Apache-2.0
#include "model/run_request.hpp"

#include "base/field_json.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace ponk::model {

namespace {

bool has_zero_byte(const std::string& text)
{
    return text.find('\0') != std::string::npos;
}

// They become words of an environment.
Result<> check_names(const Variables& pairs, std::string_view what)
{
    const auto is_wrong = [](const auto& pair) {
        return pair.first.empty() ||
               pair.first.find_first_of(std::string_view("=\0", 2)) != std::string::npos;
    };
    if (std::ranges::none_of(pairs, is_wrong)) return {};
    return fail(ErrorKind::invalid_argument, "'{}' must map names to texts", what);
}

}  // namespace

Json to_json(const RunRequest& request)
{
    return fields_to_json(request);
}

Result<RunRequest> parse_run_request(const Json& json)
{
    RunRequest request;
    TRY(read_fields(json, request));
    if (request.id.empty()) return fail(ErrorKind::invalid_argument, "'run_id' is missing");
    if (!request.project.starts_with('/'))
        return fail(ErrorKind::invalid_argument, "'project' must be an absolute path");
    if ((request.script ? 1 : 0) + (request.module.empty() ? 0 : 1) +
            (request.command.empty() ? 0 : 1) >
        1)
        return fail(ErrorKind::invalid_argument, "give 'script', 'module' or 'command', only one");
    if (has_zero_byte(request.module) || std::ranges::any_of(request.command, has_zero_byte))
        return fail(ErrorKind::invalid_argument, "'module' and 'command' cannot have zero bytes");
    if (std::ranges::any_of(request.arguments, has_zero_byte))
        return fail(ErrorKind::invalid_argument, "'arguments' must be a list of texts");
    TRY(check_names(request.tags, "tags"));
    TRY(check_names(request.variables, "variables"));
    const auto is_wrong = [](const std::optional<std::int64_t>& seconds, std::int64_t most) {
        return seconds && (*seconds < 0 || *seconds > most);
    };
    if (is_wrong(request.time_limit_seconds, longest_time_limit))
        return fail(ErrorKind::invalid_argument,
                    "'time_limit_seconds' must be a number from 0 (none) to {}",
                    longest_time_limit);
    if (is_wrong(request.grace_seconds, longest_grace))
        return fail(ErrorKind::invalid_argument,
                    "'grace_seconds' must be a number from 0 to {}",
                    longest_grace);
    for (const auto& right : request.allow) {
        if (right != "promote")
            return fail(ErrorKind::invalid_argument,
                        "'{}' is not a permission of a run; the only one is 'promote'",
                        printable(right));
    }
    return request;
}

}  // namespace ponk::model
