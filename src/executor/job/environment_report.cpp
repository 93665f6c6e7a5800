// SPDX-License-Identifier: Apache-2.0
#include "executor/job/environment_report.hpp"

namespace ponk::executor {

namespace {

Result<> require_object(const Json& value, const char* what)
{
    if (value.is_object()) return {};
    return fail(ErrorKind::damaged, "{}: not an object", what);
}

std::vector<std::string> texts(const Json& list)
{
    std::vector<std::string> out;
    if (!list.is_array()) return out;
    for (const auto& item : list.as_array())
        if (item.is_string()) out.push_back(item.as_string());
    return out;
}

Json json_of(const std::vector<EnvironmentEntry>& entries)
{
    JsonArray out;
    for (const auto& entry : entries)
        out.push_back(to_json(entry));
    return out;
}

Result<std::vector<EnvironmentEntry>> entries_of(const Json& list)
{
    std::vector<EnvironmentEntry> out;
    if (!list.is_array()) return fail(ErrorKind::damaged, "list of environments: not a list");
    for (const auto& item : list.as_array())
        out.push_back(TRY(parse_environment_entry(item)));
    return out;
}

Json json_of(const std::vector<EnvironmentRemark>& remarks)
{
    JsonArray out;
    for (const auto& remark : remarks)
        out.emplace_back(JsonObject{
            {"severity", remark.severity}, {"what", remark.what}, {"hint", remark.hint}});
    return out;
}

}  // namespace

Json to_json(const EnvironmentUsed& used)
{
    return JsonObject{{"id", used.id},
                      {"key", used.key},
                      {"builder", used.builder},
                      {"choice", used.choice},
                      {"reason", used.reason},
                      {"built", used.built},
                      {"interpreter", used.interpreter},
                      {"version", used.version},
                      {"prefix", used.prefix},
                      {"packages", used.packages},
                      {"lock", used.lock},
                      {"lock_digest", used.lock_digest},
                      {"image", used.image},
                      {"base_image", used.base_image},
                      {"base_digest", used.base_digest},
                      {"memory_limit", used.memory_limit},
                      {"substitutions", used.substitutions}};
}

Result<EnvironmentUsed> parse_environment_used(const Json& value)
{
    TRY(require_object(value, "environment of a run"));
    return EnvironmentUsed{.id = value.text("id"),
                           .key = value.text("key"),
                           .builder = value.text("builder"),
                           .choice = value.text("choice"),
                           .reason = value.text("reason"),
                           .built = value.boolean("built"),
                           .interpreter = value.text("interpreter"),
                           .version = value.text("version"),
                           .prefix = value.text("prefix"),
                           .packages = value.integer("packages"),
                           .lock = value.text("lock"),
                           .lock_digest = value.text("lock_digest"),
                           .image = value.text("image"),
                           .base_image = value.text("base_image"),
                           .base_digest = value.text("base_digest"),
                           .memory_limit = value.integer("memory_limit"),
                           .substitutions = value["substitutions"]};
}

Json to_json(const Examination& examination)
{
    return JsonObject{{"ready", examination.ready},
                      {"id", examination.id},
                      {"key", examination.key},
                      {"builder", examination.builder},
                      {"choice", examination.choice},
                      {"reason", examination.reason},
                      {"interpreter", examination.interpreter},
                      {"version", examination.version},
                      {"image", examination.image},
                      {"remarks", json_of(examination.remarks)},
                      {"substitutions", examination.substitutions}};
}

Result<Examination> parse_examination(const Json& value)
{
    TRY(require_object(value, "examination of an environment"));
    Examination out{.ready = value.boolean("ready"),
                    .id = value.text("id"),
                    .key = value.text("key"),
                    .builder = value.text("builder"),
                    .choice = value.text("choice"),
                    .reason = value.text("reason"),
                    .interpreter = value.text("interpreter"),
                    .version = value.text("version"),
                    .image = value.text("image"),
                    .remarks = {},
                    .substitutions = value["substitutions"]};
    if (!value["remarks"].is_array()) return out;
    for (const auto& remark : value["remarks"].as_array())
        out.remarks.push_back({remark.text("severity"), remark.text("what"), remark.text("hint")});
    return out;
}

Json to_json(const EnvironmentEntry& entry)
{
    return JsonObject{{"machine", entry.machine},
                      {"id", entry.id},
                      {"key", entry.key},
                      {"form", entry.form},
                      {"target", entry.target},
                      {"builder", entry.builder},
                      {"choice", entry.choice},
                      {"reason", entry.reason},
                      {"interpreter", entry.interpreter},
                      {"prefix", entry.prefix},
                      {"image", entry.image},
                      {"base_image", entry.base_image},
                      {"lock_digest", entry.lock_digest},
                      {"spec", entry.spec},
                      {"packages", entry.packages},
                      {"size", entry.size},
                      {"built", entry.built},
                      {"last_used", entry.last_used},
                      {"in_use", entry.in_use}};
}

Result<EnvironmentEntry> parse_environment_entry(const Json& value)
{
    TRY(require_object(value, "environment"));
    if (value.text("id").empty()) return fail(ErrorKind::damaged, "environment: no id");
    return EnvironmentEntry{.machine = value.text("machine"),
                            .id = value.text("id"),
                            .key = value.text("key"),
                            .form = value.text("form"),
                            .target = value.text("target"),
                            .builder = value.text("builder"),
                            .choice = value.text("choice"),
                            .reason = value.text("reason"),
                            .interpreter = value.text("interpreter"),
                            .prefix = value.text("prefix"),
                            .image = value.text("image"),
                            .base_image = value.text("base_image"),
                            .lock_digest = value.text("lock_digest"),
                            .spec = value["spec"],
                            .packages = value.integer("packages"),
                            .size = value.integer("size"),
                            .built = value.integer("built"),
                            .last_used = value.integer("last_used"),
                            .in_use = value.boolean("in_use")};
}

Json to_json(const EnvironmentList& list)
{
    return JsonObject{{"environments", json_of(list.entries)},
                      {"problems", JsonArray(list.problems.begin(), list.problems.end())}};
}

Result<EnvironmentList> parse_environment_list(const Json& value)
{
    TRY(require_object(value, "list of environments"));
    return EnvironmentList{TRY(entries_of(value["environments"])), texts(value["problems"])};
}

Json to_json(const EnvironmentRules& rules)
{
    return JsonObject{{"largest_age_hours", std::int64_t{rules.largest_age.count()}},
                      {"largest_size", rules.largest_size}};
}

Json to_json(const EnvironmentRemoval& removal)
{
    return JsonObject{{"freed", removal.freed},
                      {"held_by", JsonArray(removal.held_by.begin(), removal.held_by.end())}};
}

Result<EnvironmentRemoval> parse_environment_removal(const Json& value)
{
    TRY(require_object(value, "result of a removal"));
    return EnvironmentRemoval{value.integer("freed"), texts(value["held_by"])};
}

Result<EnvironmentRules> parse_environment_rules(const Json& value)
{
    TRY(require_object(value, "rules of a garbage collection"));
    const auto age = value.integer("largest_age_hours");
    const auto size = value.integer("largest_size");
    constexpr std::int64_t most_hours = std::int64_t{24} * 366 * 1000;
    if (age < 0 || age > most_hours || size < 0)
        return fail(ErrorKind::damaged, "rules of a garbage collection: a number out of range");
    return EnvironmentRules{std::chrono::hours(age), static_cast<std::uint64_t>(size)};
}

Json to_json(const EnvironmentGarbage& garbage)
{
    return JsonObject{{"removed", json_of(garbage.removed)},
                      {"freed", garbage.freed},
                      {"problems", JsonArray(garbage.problems.begin(), garbage.problems.end())}};
}

Result<EnvironmentGarbage> parse_environment_garbage(const Json& value)
{
    TRY(require_object(value, "result of a garbage collection"));
    return EnvironmentGarbage{
        TRY(entries_of(value["removed"])), value.integer("freed"), texts(value["problems"])};
}

}  // namespace ponk::executor
