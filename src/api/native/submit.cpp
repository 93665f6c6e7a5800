// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "api/native/submission.hpp"

namespace ponk::api {

Result<engine::Submitter> submitter_of(const Json& body)
{
    engine::Submitter submitter;
    const auto& mask = body["umask"];
    if (!mask.is_null() &&
        (!mask.is_integer() || mask.as_integer() < 0 || mask.as_integer() > 0777))
        return fail(ErrorKind::invalid_argument, "'umask' must be a number from 0 to 511");
    submitter.umask = umask_of(body);
    const auto& words = body["environment"];
    const auto wrong = [] {
        return fail(ErrorKind::invalid_argument, "'environment' must be a list of texts");
    };
    if (words.is_null()) return submitter;
    if (!words.is_array()) return wrong();
    for (const auto& item : words.as_array()) {
        if (!item.is_string() || item.as_string().find('\0') != std::string::npos) return wrong();
        // What is submitted from a prompt is none of it.
        if (item.as_string().starts_with(std::string(Prompts::mark_name) + "=")) continue;
        submitter.environment.push_back(item.as_string());
    }
    return submitter;
}

Result<net::Response> submit_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto request = TRY(model::parse_run_request(body));
    const auto run = TRY(services.engine.submit(request, TRY(submitter_of(body))));
    return net::json_response(TRY(run_json(services, run)), 201);
}

Result<net::Response> rerun_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto original = TRY(run_of(services, call));
    const auto id = TRY(RunId::parse(body.text("run_id")));
    const auto run = TRY(services.engine.rerun(original, id, TRY(submitter_of(body))));
    return net::json_response(TRY(run_json(services, run)), 201);
}

}  // namespace ponk::api
