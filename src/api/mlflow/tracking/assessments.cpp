// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/assessment_json.hpp"
#include "api/mlflow/routes.hpp"

// What people, judges and code think of traces.
namespace ponk::api::mlflow {

namespace {

store::Assessments assessments(const Services& services)
{
    return store::Assessments(services.history());
}

net::Response told(const store::Assessment& assessment)
{
    return reply({{"assessment", assessment_json(assessment)}});
}

Result<net::Response> create(const Services& services, const Call& call)
{
    const auto fields = TRY(call.fields.object("assessment"));
    const auto wanted = TRY(assessment_of(fields, call.variables[0]));
    return told(TRY(assessments(services).add(wanted)));
}

Result<net::Response> show(const Services& services, const Call& call)
{
    return told(TRY(assessments(services).get(call.variables[0], call.variables[1])));
}

Result<net::Response> update(const Services& services, const Call& call)
{
    const auto fields = TRY(call.fields.object("assessment"));
    const auto change = TRY(change_of(fields, TRY(call.fields.text("update_mask"))));
    return told(TRY(assessments(services).update(call.variables[0], call.variables[1], change)));
}

Result<net::Response> remove(const Services& services, const Call& call)
{
    TRY(assessments(services).remove(call.variables[0], call.variables[1]));
    return reply();
}

}  // namespace

std::span<const Route> assessment_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"POST", "/api/3.0/mlflow/traces/{id}/assessments", write, create},
        {"GET", "/api/3.0/mlflow/traces/{id}/assessments/{assessment}", read, show},
        {"PATCH", "/api/3.0/mlflow/traces/{id}/assessments/{assessment}", write, update},
        {"DELETE", "/api/3.0/mlflow/traces/{id}/assessments/{assessment}", write, remove},
    };
    return table;
}

}  // namespace ponk::api::mlflow
