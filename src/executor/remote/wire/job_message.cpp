// SPDX-License-Identifier: Apache-2.0
#include "base/field_json.hpp"
#include "executor/remote/wire/message.hpp"

namespace ponk::executor::remote {

void put_job(JsonObject& head, const Job& job)
{
    auto spec = job.spec;
    spec.location.host = {};
    for (auto& input : spec.inputs)
        input.source.clear();  // there it is what was sent
    // The context has the login, for calls that need one.
    if (auto& container = spec.runtime.container) {
        container->registry_username.clear();
        container->registry_password.clear();
    }
    auto context = fields_to_json(job.context);
    const auto& tracking = job.context.tracking;
    if (!tracking.experiment.empty()) context.as_object().set("tracking", model::to_text(tracking));
    head.set("spec", model::to_json(spec));
    head.set("context", std::move(context));
}

Result<Job> parse_job(const Json& head)
{
    Job job;
    job.spec = TRY(model::parse_run_spec(head["spec"]));
    if (job.spec.id.empty()) return fail(ErrorKind::damaged, "a job: 'id' is missing");
    if (job.spec.snapshot == Digest())
        return fail(ErrorKind::damaged, "a job: 'snapshot' is missing");
    const auto& context = head["context"];
    TRY(read_fields(context, job.context).map_error([](const Error& error) {
        return Error(ErrorKind::damaged, "a job: " + error.message());
    }));
    job.context.umask &= 0777U;
    if (const auto text = context.text("tracking"); !text.empty())
        job.context.tracking = TRY(model::parse_tracking(text));
    return job;
}

}  // namespace ponk::executor::remote
