// SPDX-License-Identifier: Apache-2.0
#include "api/native/run_scope.hpp"

#include "base/text.hpp"
#include "gpu/verdict/verdict.hpp"
#include "model/run_state.hpp"

namespace ponk::api {

Result<store::RunFilter> run_scope(const FindField& find)
{
    store::RunFilter scope;
    scope.project = find("project").value_or("");
    scope.script = find("script").value_or("");
    scope.target = find("target").value_or("");
    scope.gpu_verdict = find("gpu").value_or("");
    if (!scope.gpu_verdict.empty() && !gpu::parse_verdict(scope.gpu_verdict))
        return fail(
            ErrorKind::invalid_argument, "'{}' is not a GPU verdict", printable(scope.gpu_verdict));
    if (const auto word = find("state")) {
        scope.state = model::parse_run_state(*word);
        if (!scope.state)
            return fail(ErrorKind::invalid_argument, "'{}' is not a run state", printable(*word));
    }
    if (find("hidden").value_or("") == "1") scope.hidden = store::RunFilter::Hidden::include;
    if (const auto deleted = find("deleted"))
        scope.lifecycle = *deleted == "1" ? store::Lifecycle::deleted : store::Lifecycle::active;
    if (const auto limit = find("limit")) {
        const auto number = parse_integer(*limit);
        if (!number || *number < 1 || *number > 10'000)
            return fail(ErrorKind::invalid_argument, "'limit' must be 1 to 10000");
        scope.limit = static_cast<std::size_t>(*number);
    }
    return scope;
}

}  // namespace ponk::api
