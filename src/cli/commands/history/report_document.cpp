// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/report_document.hpp"

#include "model/run_words.hpp"

#include <algorithm>

namespace ponk::cli {
namespace {

constexpr std::string_view data_mark = "<!--ponk-data-->";
constexpr std::string_view fields[] = {"run_id",
                                       "run_number",
                                       "name",
                                       "status",
                                       "exit_code",
                                       "error",
                                       "project",
                                       "experiment",
                                       "script_name",
                                       "arguments",
                                       "target",
                                       "target_type",
                                       "run_configuration",
                                       "user",
                                       "host",
                                       "created_utc",
                                       "start_time_utc",
                                       "end_time_utc",
                                       "duration_ms",
                                       "params",
                                       "metrics",
                                       "gpu_verdict",
                                       "gpu_evidence",
                                       "git",
                                       "timings",
                                       "snapshot",
                                       "rerun_of",
                                       "parent"};

std::string short_text(const std::string& text, std::size_t& cut)
{
    if (text.size() <= most_report_text) return text;
    ++cut;
    std::size_t at = most_report_text;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
        --at;
    return text.substr(0, at) + "…";
}

Json members(const Json& value, std::initializer_list<const char*> names, std::size_t& cut)
{
    if (!value.is_object()) return {};
    JsonObject chosen;
    for (const char* name : names)
        chosen.set(name, bounded(value[name], cut));
    return chosen;
}

}  // namespace

Json bounded(const Json& value, std::size_t& cut)
{
    if (value.is_string()) return short_text(value.as_string(), cut);
    if (value.is_array()) {
        const auto& all = value.as_array();
        JsonArray kept;
        const std::size_t count = std::min(all.size(), most_report_names);
        cut += all.size() - count;
        for (std::size_t i = 0; i < count; ++i)
            kept.push_back(bounded(all[i], cut));
        return kept;
    }
    if (!value.is_object()) return value;
    JsonObject kept;
    for (const auto& [name, below] : value.as_object()) {
        if (kept.size() < most_report_names && name.size() <= most_report_text)
            kept.set(name, bounded(below, cut));
        else
            ++cut;
    }
    return kept;
}

JsonObject report_fields(const Json& run, std::size_t& cut)
{
    JsonObject shown;
    for (const std::string_view field : fields)
        shown.set(std::string(field), bounded(run[field], cut));
    // The folder's name says which project it is; where it lies is nobody else's business.
    const std::string path = run.text("project_path");
    shown.set("project_path", short_text(path.substr(path.find_last_of('/') + 1), cut));
    // MLflow's own tags hold paths, too.
    JsonObject tags;
    if (run["tags"].is_object()) {
        for (const auto& [name, value] : run["tags"].as_object())
            if (!name.starts_with("mlflow.") || name == model::note_tag) tags.append(name, value);
    }
    shown.set("tags", bounded(tags, cut));
    shown.set("environment",
              members(run["environment"], {"version", "base_image", "packages"}, cut));
    JsonArray inputs;
    const Json& given = run["configuration"]["inputs"];
    if (given.is_array()) {
        for (const Json& input : given.as_array())
            inputs.push_back(members(input, {"path", "digest", "files", "bytes"}, cut));
    }
    shown.set("configuration", JsonObject{{"inputs", bounded(inputs, cut)}});
    cut += static_cast<std::size_t>(std::max<std::int64_t>(0, run.integer("metrics_left_out")));
    return shown;
}

std::string report_block(std::string_view name, const Json& data)
{
    std::string block = "<script type=\"application/json\" data-ponk=\"";
    block += name;
    block += "\">";
    const std::string text = to_json(data);
    block.reserve(block.size() + text.size() + text.size() / 16 + 16);
    // These signs are in texts only, where JSON may have their numbers instead.
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = std::string_view(text).substr(i);
        if (text[i] == '<') {
            block += "\\u003c";
        } else if (text[i] == '>') {
            block += "\\u003e";
        } else if (text[i] == '&') {
            block += "\\u0026";
        } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
            block += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
            i += 2;
        } else {
            block += text[i];
        }
    }
    return block + "</script>\n";
}

Result<std::string> report_document(std::string_view page, std::string_view blocks)
{
    if (page.empty()) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "this ponk was built without the page, which a report needs",
                  "Install a package of ponk, or build it where Node.js 20 or newer is there."));
    }
    const auto at = page.find(data_mark);
    if (at == std::string_view::npos)
        return fail(ErrorKind::damaged, "the report in this program is damaged");
    std::string document;
    document.reserve(page.size() + blocks.size());
    document += page.substr(0, at);
    document += blocks;
    document += page.substr(at + data_mark.size());
    return document;
}

}  // namespace ponk::cli
