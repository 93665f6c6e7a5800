// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/report_export.hpp"

#include "base/base64.hpp"
#include "base/keyed_hash.hpp"
#include "base/time.hpp"
#include "base/version.hpp"
#include "cli/commands/history/report_document.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace ponk::cli {
namespace {

// A curve has at most four points of 16 bytes for each column.
constexpr std::size_t bytes_of_column = 64;
constexpr std::size_t most_width = 800;
constexpr std::size_t least_width = 64;
constexpr std::chrono::seconds curve_limit{120};

// Where there is none, null.
Result<Json> get_if_any(Daemon& daemon, const std::string& path)
{
    auto answer = daemon.get(path);
    if (!answer && answer.error().kind() == ErrorKind::not_found) return Json();
    return answer;
}

bool of_ponk(const std::string& metric)
{
    return metric.starts_with("system/");
}

class Report {
public:
    explicit Report(Daemon& daemon) : daemon_(daemon) {}

    Result<> take(const std::string& id)
    {
        const std::string path = "/runs/" + id;
        const Json run = TRY(daemon_.get(path));
        JsonObject entry{{"run", report_fields(run, cut_)}};
        entry.set("packages", packages_of(TRY(get_if_any(daemon_, path + "/lock"))));
        runs_.push_back(std::move(entry));
        ids_.emplace_back(id);
        snapshots_.push_back(
            run["snapshot"].is_null() ? Json() : TRY(get_if_any(daemon_, path + "/snapshot")));
        const Json metrics = TRY(daemon_.get(path + "/metrics?points=0"));
        if (!metrics["metrics"].is_object()) return {};
        for (const auto& [name, series] : metrics["metrics"].as_object())
            names_.insert(name);
        return {};
    }

    // What the runs' code has in common says nothing beside it.
    void keep_changed_files()
    {
        struct Seen {
            std::size_t runs = 0;
            std::string digest;
            bool same = true;
        };
        KeyedMap<Seen> seen;
        std::size_t known = 0;
        for (const Json& snapshot : snapshots_) {
            if (!snapshot["files"].is_array()) continue;
            ++known;
            for (const Json& file : snapshot["files"].as_array()) {
                Seen& one = seen[file.text("path")];
                const std::string digest = file.text("digest");
                if (one.runs++ == 0) one.digest = digest;
                one.same = one.same && one.digest == digest;
            }
        }
        std::set<std::string> changed;
        for (const auto& [path, one] : seen)
            if (!one.same || one.runs < known) changed.insert(path);
        cut_ += changed.size() - std::min(changed.size(), most_report_files);
        while (changed.size() > most_report_files)
            changed.erase(std::prev(changed.end()));
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            if (!snapshots_[i]["files"].is_array()) continue;
            JsonArray files;
            for (const Json& file : snapshots_[i]["files"].as_array()) {
                if (changed.contains(file.text("path")))
                    files.push_back(JsonObject{{"path", file.text("path")},
                                               {"digest", file.text("digest").substr(0, 12)}});
            }
            runs_[i].as_object().set("snapshot", JsonObject{{"files", std::move(files)}});
        }
    }

    // The script's own metrics first.
    Result<> take_curves()
    {
        std::vector<std::string> names(names_.begin(), names_.end());
        std::stable_partition(
            names.begin(), names.end(), [](const auto& name) { return !of_ponk(name); });
        const std::size_t shown = std::min(names.size(), most_report_metrics);
        if (shown == 0) return {};
        width_ = std::clamp(
            most_curve_bytes / (bytes_of_column * shown * ids_.size()), least_width, most_width);
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (i >= shown || bytes > most_curve_bytes) {
                metrics_left_out_ = names.size() - i;
                break;
            }
            // The page shows ponk's own by time, where scripts count steps.
            const std::string body =
                TRY(daemon_.ask_bytes("/curves",
                                      JsonObject{{"runs", ids_},
                                                 {"keys", JsonArray{names[i]}},
                                                 {"x", of_ponk(names[i]) ? "relative" : "step"},
                                                 {"width", std::uint64_t{width_}}},
                                      curve_limit));
            bytes += body.size();
            curves_ +=
                report_block("curves", JsonObject{{"metric", names[i]}, {"body", to_base64(body)}});
        }
        return {};
    }

    Result<ReportMade> finish(std::size_t runs_left_out, std::string_view page)
    {
        std::string blocks =
            report_block("about",
                         JsonObject{{"made", utc_text(wall_milliseconds())},
                                    {"version", own_version()},
                                    {"width", std::uint64_t{width_}},
                                    {"left_out",
                                     JsonObject{{"runs", std::uint64_t{runs_left_out}},
                                                {"metrics", std::uint64_t{metrics_left_out_}},
                                                {"values", std::uint64_t{cut_}}}}});
        for (const Json& run : runs_)
            blocks += report_block("run", run);
        blocks += curves_;
        return ReportMade{TRY(report_document(page, blocks)), metrics_left_out_, cut_};
    }

private:
    Json packages_of(const Json& lock)
    {
        if (!lock["packages"].is_array()) return {};
        JsonArray packages;
        for (const Json& one : lock["packages"].as_array()) {
            if (packages.size() == most_report_packages) {
                cut_ += lock["packages"].as_array().size() - packages.size();
                break;
            }
            packages.push_back(
                JsonObject{{"name", one.text("name")}, {"version", one.text("version")}});
        }
        return packages;
    }

    Daemon& daemon_;
    JsonArray runs_;
    JsonArray ids_;
    JsonArray snapshots_;
    std::set<std::string> names_;
    std::string curves_;
    std::size_t width_ = 0;
    std::size_t metrics_left_out_ = 0;
    std::size_t cut_ = 0;
};

}  // namespace

Result<ReportMade> make_report(Daemon& daemon,
                               const std::vector<std::string>& run_ids,
                               std::size_t runs_left_out,
                               std::string_view page)
{
    // Before all the work: a program without the page makes none.
    TRY(report_document(page, {}));
    Report report(daemon);
    for (const std::string& id : run_ids)
        TRY(report.take(id));
    report.keep_changed_files();
    TRY(report.take_curves());
    return report.finish(runs_left_out, page);
}

}  // namespace ponk::cli
