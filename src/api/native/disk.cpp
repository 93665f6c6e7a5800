// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/disk.hpp"

#include "api/native/handlers.hpp"
#include "base/time.hpp"

namespace ponk::api {

namespace {

JsonArray texts(const std::vector<std::string>& list)
{
    return {list.begin(), list.end()};
}

Json json_of(const engine::PruneReport& report)
{
    JsonArray copies;
    for (const auto& copy : report.copies)
        copies.emplace_back(JsonObject{{"run_id", copy.run.id.text()},
                                       {"run_number", copy.run.number},
                                       {"project", copy.run.project},
                                       {"project_path", copy.run.project_path},
                                       {"end_time_utc", utc_text(copy.run.ended)},
                                       {"files", copy.files},
                                       {"bytes", copy.bytes}});
    JsonArray environments;
    for (const auto& entry : report.environments)
        environments.emplace_back(JsonObject{{"id", entry.id},
                                             {"machine", entry.machine},
                                             {"last_used_utc", utc_text(entry.last_used)},
                                             {"bytes", entry.size}});
    return JsonObject{{"copies", std::move(copies)},
                      {"environments", std::move(environments)},
                      {"store_bytes", report.store_bytes},
                      {"problems", texts(report.problems)}};
}

template <class Unit>
Result<Unit> age_of(const Json& body, const char* key)
{
    if (body[key].is_null()) return Unit(0);
    constexpr auto most = std::chrono::duration_cast<Unit>(std::chrono::days(36'500)).count();
    const auto age = body[key].is_integer() ? body[key].as_integer() : -1;
    if (age < 0 || age > most)
        return fail(ErrorKind::invalid_argument, "'{}' must be a number from 0 to {}", key, most);
    return Unit(age);
}

}  // namespace

Result<net::Response> show_disk(const Services& services, const Call& /*call*/)
{
    const auto report = TRY(engine::measure_disk(services.context(), {}));
    JsonArray parts;
    std::uint64_t total = 0;
    for (const auto& part : report.parts) {
        parts.emplace_back(JsonObject{{"part", part.name}, {"bytes", part.bytes}});
        total += part.bytes;
    }
    JsonArray projects;
    for (const auto& use : report.projects)
        projects.emplace_back(JsonObject{{"id", use.project.id},
                                         {"name", use.project.name},
                                         {"path", use.project.path},
                                         {"runs", use.runs},
                                         {"copies_bytes", use.copies},
                                         {"records_bytes", use.records}});
    return net::json_response(JsonObject{{"home", services.context().home.native()},
                                         {"bytes", total},
                                         {"free_bytes", report.free},
                                         {"disk_bytes", report.size},
                                         {"parts", std::move(parts)},
                                         {"projects", std::move(projects)}});
}

Result<net::Response> prune_disk(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    engine::PruneRules rules;
    rules.copies.largest_age = TRY(age_of<std::chrono::seconds>(body, "copies_seconds"));
    rules.environments.largest_age = TRY(age_of<std::chrono::hours>(body, "environments_hours"));
    rules.project = body.text("project");
    if (body.boolean("store")) rules.store = engine::PruneRules::Store::collect;
    const auto report =
        TRY(body.boolean("dry_run") ? engine::plan_prune(services.context(), rules, {})
                                    : engine::prune(services.context(), rules, {}));
    return net::json_response(json_of(report));
}

}  // namespace ponk::api
