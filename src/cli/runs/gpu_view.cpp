// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/gpu_view.hpp"

#include "base/text.hpp"
#include "cli/runs/metric_series.hpp"
#include "model/run_words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace ponk::cli {
namespace {

// What is drawn, in this order; the last word of "system/gpu.0.power".
struct Kind {
    std::string_view word;
    const char* title;
    double scale;
};
constexpr std::array<Kind, 5> kinds{{
    {"utilisation", "GPU utilisation, %", 1},
    {"sm_activity", "SM activity, %", 1},
    {"memory_used", "GPU memory in use, GiB", 1.0 / (1 << 30)},
    {"power", "GPU power, W", 1},
    {"energy", "GPU energy since the start, J", 1},
}};
constexpr std::string_view gpu_prefix = "system/gpu.";
constexpr int chart_height = 5;

// What the supervisor measures of the run's processes, by whole names.
constexpr std::array<Kind, 2> uses{{
    {"system/run.cpu_utilization_percentage", "CPU of the run, % of one processor", 1},
    {"system/run.memory_usage_megabytes", "memory of the run, GiB", 1e6 / (1 << 30)},
}};

struct GpuMetric {
    std::int64_t place = 0;  // among the run's devices
    std::string_view word;
};

std::optional<GpuMetric> gpu_metric(std::string_view name)
{
    if (!name.starts_with(gpu_prefix)) return std::nullopt;
    const auto rest = name.substr(gpu_prefix.size());
    const auto dot = rest.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto place = parse_integer(rest.substr(0, dot));
    if (!place || *place < 0) return std::nullopt;
    return GpuMetric{*place, rest.substr(dot + 1)};
}

double real(const Json& json, std::string_view key)
{
    return json[key].is_number() ? json[key].as_double() : 0;
}

std::uint64_t bytes_of(const Json& json, std::string_view key)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, json.integer(key)));
}

// What was seen of the device with this uuid.
const Json& evidence_of(const Json& gpu, const std::string& uuid)
{
    static const Json none;
    const Json& devices = gpu["evidence"]["devices"];
    if (!devices.is_array()) return none;
    for (const Json& device : devices.as_array())
        if (device.text("uuid") == uuid) return device;
    return none;
}

// Without a verdict from figures, nothing seen is not the same as nothing done.
bool is_measured(const std::string& verdict)
{
    return verdict == "confirmed" || verdict == "idle" || verdict == "cpu-fallback";
}

std::string device_text(const Json& device, const Json& seen, const std::string& verdict)
{
    std::string text = fmt::format("{} ({}, {})",
                                   device.text("name", "?"),
                                   byte_size_text(bytes_of(device, "memory_total")),
                                   device.text("uuid"));
    if (!seen.is_object()) return text;
    if (real(seen, "held_seconds") <= 0) {
        text += is_measured(verdict) ? ": not used" : ": no data";
    } else {
        text += fmt::format(": busy {:.1f} s of {:.1f} s, {} at most",
                            real(seen, "worked_seconds"),
                            real(seen, "held_seconds"),
                            byte_size_text(bytes_of(seen, "memory_peak")));
        if (seen["sm_activity_mean"].is_number())
            text += fmt::format(", SM activity {:.1f} %", real(seen, "sm_activity_mean") * 100);
    }
    if (seen["energy_joules"].is_number())
        text += fmt::format(", {:.1f} kJ", real(seen, "energy_joules") / 1000);
    if (!seen.text("lost").empty()) text += ", lost";
    return text;
}

enum class Whose { script, system };

Json metrics_of(const Json& metrics, Whose whose)
{
    JsonObject chosen;
    if (!metrics.is_object()) return chosen;
    for (const auto& [name, value] : metrics.as_object())
        if (name.starts_with(model::system_prefix) == (whose == Whose::system))
            chosen.append(name, value);
    return chosen;
}

std::string waiting_text(const Json& gpu)
{
    std::string text = fmt::format("queued, position {}", gpu.integer("position", 1));
    const Json& reasons = gpu["waiting"];
    if (!reasons.is_array()) return text;
    std::vector<std::string> parts;
    for (const Json& reason : reasons.as_array())
        if (reason.is_string()) parts.push_back(reason.as_string());
    return parts.empty() ? text : text + ": " + join(parts, "; ");
}

}  // namespace

bool wants_gpus(const Json& run)
{
    return run["gpu_evidence"].is_object();
}

std::string brief_gpu(const Json& run)
{
    if (!wants_gpus(run)) return {};
    const Json& gpu = run["gpu_evidence"];
    const auto phase = gpu.text("phase");
    if (phase == "queued") return fmt::format("queued ({})", gpu.integer("position", 1));
    return phase == "leased" ? phase : run.text("gpu_verdict");
}

std::string gpu_sentence(const Json& run)
{
    const Json& gpu = run["gpu_evidence"];
    const auto phase = gpu.text("phase");
    if (phase == "queued") return waiting_text(gpu);
    if (phase == "leased") return "leased; the verdict comes at the end";
    std::string text = run.text("gpu_verdict");
    if (const auto reason = gpu.text("reason"); !reason.empty()) text += ": " + reason;
    return text;
}

void add_gpu_rows(const Json& run, JsonObject& rows)
{
    if (!wants_gpus(run)) {
        if (!run["gpu_verdict"].is_null()) rows.set("gpu_verdict", run["gpu_verdict"]);
        return;
    }
    const Json& gpu = run["gpu_evidence"];
    rows.set("gpu_verdict", gpu_sentence(run));
    if (gpu["devices"].is_array()) {
        const auto& devices = gpu["devices"].as_array();
        for (std::size_t i = 0; i < devices.size(); ++i)
            rows.set(fmt::format("gpu {}", i),
                     device_text(devices[i],
                                 evidence_of(gpu, devices[i].text("uuid")),
                                 run.text("gpu_verdict")));
    }
    if (const auto driver = gpu.text("driver_version"); !driver.empty()) {
        const auto cuda = gpu.text("cuda_version");
        rows.set("gpu driver", cuda.empty() ? driver : fmt::format("{}, CUDA {}", driver, cuda));
    }
    if (const Json& container = gpu["container"]; container.is_object())
        rows.set("gpu container",
                 fmt::format("{}: {}", container.text("way"), container.text("reason")));
}

Json script_metrics(const Json& metrics)
{
    return metrics_of(metrics, Whose::script);
}

Json system_metrics(const Json& metrics)
{
    return metrics_of(metrics, Whose::system);
}

bool is_charted(std::string_view name)
{
    if (std::ranges::find(uses, name, &Kind::word) != uses.end()) return true;
    const auto metric = gpu_metric(name);
    return metric && std::any_of(kinds.begin(), kinds.end(), [&](const Kind& kind) {
               return kind.word == metric->word;
           });
}

std::string use_charts(const Json& metrics, const output::Terminal& terminal)
{
    std::string text;
    if (!metrics.is_object()) return text;
    for (const auto& kind : uses) {
        const auto series = series_of(kind.title, metrics[kind.word], kind.scale);
        if (series.x.empty() || series.x.front() >= series.x.back()) continue;
        text += "\n" + output::draw_chart({&series, 1},
                                          {.terminal = terminal,
                                           .height = chart_height,
                                           .title = kind.title,
                                           .x_label = "seconds"});
    }
    return text;
}

std::string gpu_charts(const Json& metrics, const output::Terminal& terminal)
{
    std::string text;
    if (!metrics.is_object()) return text;
    for (const auto& kind : kinds) {
        std::map<std::int64_t, output::Series> by_place;
        for (const auto& [name, metric] : metrics.as_object()) {
            const auto found = gpu_metric(name);
            if (!found || found->word != kind.word) continue;
            auto series = series_of(fmt::format("GPU {}", found->place), metric, kind.scale);
            // Points of one moment are no curve.
            if (!series.x.empty() && series.x.front() < series.x.back())
                by_place.emplace(found->place, std::move(series));
        }
        std::vector<output::Series> curves;
        for (auto& [place, series] : by_place)
            curves.push_back(std::move(series));
        if (curves.empty()) continue;
        text += "\n" + output::draw_chart(curves,
                                          {.terminal = terminal,
                                           .height = chart_height,
                                           .title = kind.title,
                                           .x_label = "seconds"});
    }
    return text;
}

}  // namespace ponk::cli
