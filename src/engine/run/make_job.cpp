// SPDX-License-Identifier: Apache-2.0
#include "engine/run/make_job.hpp"

#include "base/text.hpp"
#include "engine/run/run_environment.hpp"

namespace ponk::engine {

namespace {

// Those of variables; a password for a registry is a login.
Result<Variables> secret_values(const Context& context, const Variables& variables)
{
    Variables values;
    for (const auto& [name, value] : variables) {
        const auto secret = model::secret_reference(value);
        if (!secret) continue;
        values.emplace_back(
            *secret,
            TRY(context.secrets.get(*secret).map_error(while_doing("variable '{}'", name))));
    }
    return values;
}

Result<executor::RegistryLogin> login_of(const Context& context, const model::Container& container)
{
    executor::RegistryLogin login{.username = container.registry_username,
                                  .password = container.registry_password,
                                  .token = {}};
    if (const auto secret = model::secret_reference(container.registry_password))
        login.password =
            TRY(context.secrets.get(*secret).map_error(while_doing("password of the registry")));
    return login;
}

}  // namespace

Result<executor::Job> make_job(const Context& context,
                               const model::Run& run,
                               const RunSpec& spec,
                               const Submitter* submitter)
{
    executor::Job job{.spec = spec, .context = {}};
    job.spec.id = run.id;
    job.spec.name = run.name;
    job.spec.project = run.project;
    if (!parse_digest(run.snapshot, job.spec.snapshot))
        return fail(ErrorKind::damaged, "run '{}' has no snapshot", run.id.text());
    auto& beside = job.context;
    beside.directory = context.run_directory(run.id);
    beside.source = run.project_path;
    if (spec.program.interactive) beside.input = context.home / "input" / run.id.text();
    beside.token = to_hex(random_bytes(16));
    beside.secrets = TRY(secret_values(context, spec.program.variables));
    if (spec.runtime.container) beside.login = TRY(login_of(context, *spec.runtime.container));
    if (!spec.environment.lock_digest.empty())
        beside.lock = TRY(read_wanted_lock(beside.directory.root(), spec.environment.lock_digest));
    if (submitter != nullptr) {
        beside.submitter_environment = submitter->environment;
        beside.umask = submitter->umask;
    }
    return job;
}

}  // namespace ponk::engine
