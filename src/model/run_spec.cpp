// SPDX-License-Identifier: Apache-2.0
#include "model/run_spec.hpp"

#include "base/field_json.hpp"
#include "model/run_spec_v1.hpp"
#include "model/target_type.hpp"

#include <algorithm>
#include <filesystem>

namespace ponk::model {

namespace {

constexpr std::int64_t newest_version = 3;

// An earlier ponk would start a cluster's run on the login node itself.
std::int64_t version_of(const RunSpec& spec)
{
    return spec.location.slurm ? 3 : 2;
}

bool is_v1(const Json& json)
{
    return json["version"].is_null();
}

}  // namespace

Json to_json(const RunSpec& spec)
{
    JsonObject out{{"version", version_of(spec)}};
    auto fields = fields_to_json(spec);
    for (auto& [name, value] : fields.as_object())
        out.append(name, std::move(value));
    return out;
}

Result<RunSpec> parse_run_spec(const Json& json)
{
    if (!json.is_object()) return fail(ErrorKind::damaged, "run specification: not an object");
    if (is_v1(json)) return parse_run_spec_v1(json);
    if (!json["version"].is_integer())
        return fail(ErrorKind::damaged, "run specification: 'version' is not a number");
    if (json.integer("version") > newest_version)
        return fail(ErrorKind::unavailable,
                    "the run was stored by a newer version of ponk (specification {})",
                    json.integer("version"));
    RunSpec spec;
    TRY(read_fields(json, spec).map_error([](const Error& error) {
        return Error(ErrorKind::damaged, "run specification: " + error.message());
    }));
    return spec;
}

std::optional<Digest> manifest_of(const Input& input)
{
    Digest digest;
    const auto text = std::string_view(input.tree).substr(0, input.tree.find('/'));
    return parse_digest(text, digest) ? std::optional(digest) : std::nullopt;
}

std::string file_of(const Input& input)
{
    const auto slash = input.tree.find('/');
    return slash == std::string::npos ? "" : input.tree.substr(slash + 1);
}

Json to_json(const GpuRequest& request)
{
    return fields_to_json(request);
}

Result<GpuRequest> parse_gpu_request(const Json& json)
{
    GpuRequest request;
    TRY(read_fields(json, request, "gpu"));
    return request;
}

GpuRequest stored_gpu_request(const Json& spec)
{
    if (is_v1(spec)) return gpu_request_v1(spec["gpu"]);
    // What cannot be read is an error where the whole of it is needed.
    return parse_gpu_request(spec["resources"]["gpu"]).value_or(GpuRequest());
}

bool may_promote(const Json& spec)
{
    return (is_v1(spec) ? spec : spec["policy"]).boolean("may_promote");
}

std::chrono::seconds grace_of(const Json& spec)
{
    return std::chrono::seconds(spec["policy"].integer("grace_seconds", Policy().grace.count()));
}

std::string target_type(const RunSpec& spec)
{
    if (spec.location.slurm) return std::string(traits_of(TargetType::slurm).name());
    const auto where = spec.location.kind == Location::Kind::host ? TargetTraits::Where::host
                                                                  : TargetTraits::Where::here;
    const auto how =
        spec.runtime.container ? TargetTraits::How::container : TargetTraits::How::process;
    const auto found = std::ranges::find_if(target_types, [&](const TargetTraits& traits) {
        return traits.where == where && traits.how == how;
    });
    return std::string(found->name());
}

std::string executor_name(const Location& location, const std::string& type)
{
    return location.slurm && location.kind == Location::Kind::here ? std::string(slurm_here) : type;
}

bool is_preparation(const RunSpec& spec)
{
    return spec.policy.purpose == Policy::Purpose::prepare;
}

std::optional<std::string> secret_reference(std::string_view value)
{
    constexpr std::string_view prefix = "secret:";
    if (!value.starts_with(prefix)) return std::nullopt;
    return std::string(value.substr(prefix.size()));
}

std::vector<std::string> secret_names(const RunSpec& spec)
{
    std::vector<std::string> names;
    const auto add = [&names](std::string_view value) {
        if (auto name = secret_reference(value)) names.push_back(std::move(*name));
    };
    for (const auto& [variable, value] : spec.program.variables)
        add(value);
    if (spec.runtime.container) add(spec.runtime.container->registry_password);
    return names;
}

std::string script_as_started(const Program& program)
{
    auto script =
        program.folder.empty()
            ? program.script
            : std::filesystem::path(program.script).lexically_relative(program.folder).native();
    return script.starts_with('-') ? "./" + script : script;
}

}  // namespace ponk::model
