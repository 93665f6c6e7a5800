// SPDX-License-Identifier: Apache-2.0
#include "model/tracking.hpp"

#include "base/json.hpp"

namespace ponk::model {

std::string to_text(const Tracking& tracking)
{
    JsonArray tags;
    for (const auto& [key, value] : tracking.tags)
        tags.emplace_back(JsonArray{key, value});
    JsonObject object{{"relay", 1},
                      {"run", tracking.run},
                      {"token", tracking.token},
                      {"experiment", tracking.experiment},
                      {"experiment_name", tracking.experiment_name},
                      {"run_name", tracking.run_name},
                      {"user", tracking.user},
                      {"started", tracking.started},
                      {"tags", std::move(tags)},
                      {"outputs", tracking.outputs}};
    if (tracking.is_named) object.append("is_named", true);
    return to_json(object) + "\n";
}

Result<Tracking> parse_tracking(std::string_view text)
{
    const auto json = TRY(parse_json(text));
    if (json.integer("relay") != 1)
        return fail(ErrorKind::damaged, "file 'relay' has another version");
    Tracking tracking{.run = json.text("run"),
                      .token = json.text("token"),
                      .experiment = json.text("experiment"),
                      .experiment_name = json.text("experiment_name"),
                      .run_name = json.text("run_name"),
                      .is_named = json.boolean("is_named"),
                      .user = json.text("user"),
                      .started = json.integer("started"),
                      .tags = {},
                      .outputs = json.text("outputs")};
    if (tracking.run.empty() || tracking.token.empty())
        return fail(ErrorKind::damaged, "file 'relay' has no run");
    if (const auto& tags = json["tags"]; tags.is_array()) {
        for (const auto& tag : tags.as_array()) {
            if (tag.is_array() && tag.as_array().size() == 2 && tag.as_array()[0].is_string() &&
                tag.as_array()[1].is_string())
                tracking.tags.emplace_back(tag.as_array()[0].as_string(),
                                           tag.as_array()[1].as_string());
        }
    }
    return tracking;
}

}  // namespace ponk::model
