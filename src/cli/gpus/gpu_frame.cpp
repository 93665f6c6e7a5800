// SPDX-License-Identifier: Apache-2.0
#include "cli/gpus/gpu_frame.hpp"

#include "base/text.hpp"
#include "cli/gpus/gpu_devices.hpp"
#include "output/cell.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ponk::cli {
namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::size_t label_width = 9;
constexpr std::size_t value_width = 18;
constexpr std::size_t most_processes = 6;

constexpr const char* green = "32";
constexpr const char* yellow = "33";
constexpr const char* red = "31";
constexpr const char* cyan = "36";
constexpr const char* blue = "34";
constexpr const char* dim = "2";
constexpr const char* bold = "1";

std::string key_of(const Json& device, const std::string& what)
{
    return device.text("address") + ' ' + device.text("uuid") + ' ' + what;
}

std::string targets_text(const Json& device)
{
    std::vector<std::string> names;
    if (device["targets"].is_array()) {
        for (const auto& name : device["targets"].as_array())
            names.push_back(printable(name.is_string() ? name.as_string() : ""));
    }
    return join(names, ", ");
}

std::string padded(const std::string& text, std::size_t width)
{
    const auto wide = display_width(text);
    return wide < width ? text + std::string(width - wide, ' ') : text;
}

// Draws the lines of one frame on one terminal.
class Painter {
public:
    Painter(const output::Terminal& terminal, const GpuMinute& minute, std::int64_t now)
        : terminal_(terminal), minute_(minute), now_(now),
          width_(terminal.width > 0 ? static_cast<std::size_t>(terminal.width) : 80)
    {
    }

    void line(const std::string& text, const char* colour = "")
    {
        lines_.push_back(painted(output::shortened(text, width_, terminal_), colour));
    }

    void device(const Json& device)
    {
        const auto& sample = device["sample"];
        heading(device);
        activity(device, "busy", "utilisation", green);
        if (sample["sm_activity"].is_number()) activity(device, "SM", "sm_activity", green);
        if (sample["tensor_activity"].is_number())
            activity(device, "tensor", "tensor_activity", green);
        const auto total = static_cast<double>(device.integer("memory_total"));
        const auto used = static_cast<double>(sample.integer("memory_used"));
        bar("memory", total > 0 ? used / total : 0, memory_text(device), cyan);
        power(device);
        if (sample["temperature"].is_number()) {
            const double degrees = sample["temperature"].as_double();
            bar("heat",
                degrees / 100,
                fmt::format("{:.0f} {}C", degrees, terminal_.utf8 ? "°" : ""),
                degrees < 75   ? green
                : degrees < 88 ? yellow
                               : red);
        }
        warnings(sample);
        processes(device);
    }

    [[nodiscard]] std::size_t width() const { return width_; }
    std::vector<std::string> take() { return std::move(lines_); }

private:
    [[nodiscard]] std::string painted(const std::string& text, const char* colour) const
    {
        if (!terminal_.colour || *colour == '\0' || text.empty()) return text;
        return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
    }

    void heading(const Json& device)
    {
        const auto name = fmt::format("{} {}  {}",
                                      targets_text(device),
                                      device.integer("index"),
                                      printable(device.text("name")));
        std::string details = printable(device.text("pci_bus_id"));
        const auto& clock = device["sample"]["clock_mhz"];
        if (clock.is_integer()) details += fmt::format("  {} MHz", clock.as_integer());
        if (!device.text("driver_version").empty())
            details += "  driver " + printable(device.text("driver_version"));
        if (!device.text("cuda_version").empty())
            details += "  CUDA " + printable(device.text("cuda_version"));
        const auto head = output::shortened(name, width_, terminal_);
        const auto room = width_ - std::min(width_, display_width(head) + 2);
        auto text = painted(head, bold);
        if (room >= 12) text += "  " + painted(output::shortened(details, room, terminal_), dim);
        lines_.push_back(text);
        holder(device);
    }

    void holder(const Json& device)
    {
        const auto lost = device["sample"].text("lost");
        if (!lost.empty()) line("  lost: " + printable(lost), red);
        if (!device.as_object().find("lease")) return;
        const auto holder = holder_text(device);
        if (device["lease"].is_object())
            line("  leased to " + holder, yellow);
        else if (!holder.empty())
            line("  not leased, used by " + holder, yellow);
        else if (lost.empty())
            line("  free", dim);
    }

    void activity(const Json& device, const char* label, const char* key, const char* colour)
    {
        const auto& value = device["sample"][key];
        bar(label,
            value.is_number() ? value.as_double() : 0,
            percent_text(value),
            colour,
            [&](std::size_t width) { return curve(device, key, width); });
    }

    void power(const Json& device)
    {
        const auto& watts = device["sample"]["power_watts"];
        if (!watts.is_number()) return;
        const auto& limit = device["power_limit_watts"];
        if (!limit.is_number() || limit.as_double() <= 0) {
            line(fmt::format("  {}{:.0f} W", padded("power", label_width - 2), watts.as_double()));
            return;
        }
        bar("power",
            watts.as_double() / limit.as_double(),
            fmt::format("{:.0f} of {:.0f} W", watts.as_double(), limit.as_double()),
            blue);
    }

    // The last minute as a curve whose height is 0…1 and nothing else.
    [[nodiscard]] std::string curve(const Json& device, const char* key, std::size_t width) const
    {
        static const char* const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
        static const char* const plain[] = {"_", ".", ",", "-", "~", "=", "*", "#"};
        std::string text;
        for (const double share : minute_.shares(device, key, width, now_)) {
            const auto level = static_cast<std::size_t>(
                std::lround(std::clamp(std::isnan(share) ? 0 : share, 0.0, 1.0) * 7));
            text += std::isnan(share) ? " " : terminal_.utf8 ? blocks[level] : plain[level];
        }
        return text;
    }

    template <class Curve = std::nullptr_t>
    void bar(const char* label,
             double share,
             const std::string& value,
             const char* colour,
             const Curve& curve = nullptr)
    {
        constexpr std::size_t most = 40;
        const bool with_curve = width_ >= 70;
        const std::size_t curve_width = with_curve ? std::min<std::size_t>(30, width_ / 3) : 0;
        const auto taken = label_width + value_width + 1 + (with_curve ? curve_width + 2 : 0);
        const auto room = width_ > taken ? std::min(width_ - taken, most) : 0;
        auto text = "  " + padded(label, label_width - 2);
        if (room >= 6) text += filled(std::clamp(share, 0.0, 1.0), room, colour) + " ";
        text += value;
        if constexpr (!std::is_same_v<Curve, std::nullptr_t>) {
            if (with_curve)
                text +=
                    std::string(value_width + 2 - std::min(value_width + 2, display_width(value)),
                                ' ') +
                    painted(curve(curve_width), colour);
        }
        lines_.push_back(text);
    }

    [[nodiscard]] std::string filled(double share, std::size_t width, const char* colour) const
    {
        static const char* const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
        const auto parts = static_cast<std::size_t>(
            std::lround(share * static_cast<double>(width * (terminal_.utf8 ? 8 : 1))));
        const auto whole = terminal_.utf8 ? parts / 8 : parts;
        std::string done;
        for (std::size_t i = 0; i < whole; ++i)
            done += terminal_.utf8 ? "█" : "#";
        const bool partly = terminal_.utf8 && parts % 8 != 0;
        if (partly) done += eighths[parts % 8];
        std::string rest;
        for (std::size_t i = whole + (partly ? 1 : 0); i < width; ++i)
            rest += terminal_.utf8 ? "─" : ".";
        return painted(done, colour) + painted(rest, dim);
    }

    void warnings(const Json& sample)
    {
        if (sample["xids"].is_array()) {
            for (const auto& xid : sample["xids"].as_array())
                line(fmt::format("  the driver reported Xid {}", output::cell_text(xid)), red);
        }
        if (sample.integer("ecc_errors") > 0)
            line(fmt::format("  {} uncorrected memory errors since the driver was loaded",
                             sample.integer("ecc_errors")),
                 red);
    }

    void processes(const Json& device)
    {
        if (!device["processes"].is_array()) return;
        const auto& list = device["processes"].as_array();
        if (list.empty()) return;
        const bool narrow = width_ < 56;
        line(narrow ? fmt::format("  {:>8} {:>9} {}", "pid", "memory", "program")
                    : fmt::format("  {:>8} {:<10} {:>10} {:>5}  {:<8}  {}",
                                  "pid",
                                  "user",
                                  "memory",
                                  "SM",
                                  "run",
                                  "program"),
             dim);
        for (std::size_t i = 0; i < list.size() && i < most_processes; ++i) {
            const auto& one = list[i];
            const auto bytes =
                static_cast<std::uint64_t>(std::max<std::int64_t>(one.integer("memory"), 0));
            const auto memory = bytes == 0 ? std::string("-") : byte_size_text(bytes);
            const auto run = one.text("run");
            const auto program = printable(one.text("program", "?"));
            line(narrow ? fmt::format("  {:>8} {:>9} {}", one.integer("pid"), memory, program)
                        : fmt::format("  {:>8} {:<10} {:>10} {:>5}  {:<8}  {}",
                                      one.integer("pid"),
                                      printable(one.text("user", "?")),
                                      memory,
                                      percent_text(one["sm_utilisation"]),
                                      run.size() > 8 ? run.substr(run.size() - 8) : run,
                                      program));
        }
        if (list.size() > most_processes)
            line(fmt::format("  and {} more", list.size() - most_processes), dim);
    }

    const output::Terminal& terminal_;
    const GpuMinute& minute_;
    std::int64_t now_;
    std::size_t width_;
    std::vector<std::string> lines_;
};

}  // namespace

void GpuMinute::add(const JsonArray& devices, std::int64_t now)
{
    for (const auto& device : devices) {
        for (const char* what : {"utilisation", "sm_activity", "tensor_activity"}) {
            const auto& value = device["sample"][what];
            if (!value.is_number()) continue;
            auto& points = seen_[key_of(device, what)];
            points.emplace_back(now, value.as_double());
            while (!points.empty() && points.front().first < now - 2 * minute_ms)
                points.pop_front();
        }
    }
}

std::vector<double> GpuMinute::shares(const Json& device,
                                      const std::string& key,
                                      std::size_t width,
                                      std::int64_t now) const
{
    std::vector<double> sums(width, 0);
    std::vector<int> counts(width, 0);
    if (const auto found = seen_.find(key_of(device, key)); found != seen_.end()) {
        for (const auto& [time, share] : found->second) {
            const auto age = now - time;
            if (age < 0 || age >= minute_ms) continue;
            const auto place =
                width - 1 -
                static_cast<std::size_t>(age) * width / static_cast<std::size_t>(minute_ms);
            sums[place] += share;
            ++counts[place];
        }
    }
    for (std::size_t i = 0; i < width; ++i)
        sums[i] = counts[i] == 0 ? std::numeric_limits<double>::quiet_NaN() : sums[i] / counts[i];
    return sums;
}

void add_problem(GpuFrame& frame,
                 const std::string& target,
                 const std::string& message,
                 const std::string& hint)
{
    const auto said = [&](const std::string& note) { return note.ends_with(": " + message); };
    if (message.empty() || std::ranges::any_of(frame.notes, said)) return;
    frame.notes.push_back(target + ": " + message);
    if (!hint.empty()) frame.notes.push_back("hint: " + hint);
}

std::vector<std::string> draw_gpus(const GpuFrame& frame,
                                   const GpuMinute& minute,
                                   std::int64_t now,
                                   const output::Terminal& terminal)
{
    Painter painter(terminal, minute, now);
    painter.line(frame.title, dim);
    for (const auto& note : frame.notes)
        for (const auto& part : output::wrapped(printable(note), painter.width()))
            painter.line(part, yellow);
    for (const auto& device : frame.devices) {
        painter.line("");
        painter.device(device);
    }
    if (frame.devices.empty() && frame.notes.empty()) painter.line("no GPU");
    return painter.take();
}

std::vector<std::string> gpu_lines(const GpuFrame& frame)
{
    std::vector<std::string> lines;
    for (const auto& note : frame.notes)
        lines.push_back(frame.title + "  " + printable(note));
    for (const auto& device : frame.devices) {
        const auto& sample = device["sample"];
        auto line = fmt::format("{}  {} {}  {}  busy {}",
                                frame.title,
                                targets_text(device),
                                device.integer("index"),
                                printable(device.text("name")),
                                percent_text(sample["utilisation"]));
        if (sample["sm_activity"].is_number())
            line += "  SM " + percent_text(sample["sm_activity"]);
        line += "  memory " + memory_text(device);
        if (sample["power_watts"].is_number())
            line += fmt::format("  {:.0f} W", sample["power_watts"].as_double());
        if (sample["temperature"].is_number())
            line += fmt::format("  {:.0f} °C", sample["temperature"].as_double());
        if (!sample.text("lost").empty()) line += "  lost: " + printable(sample.text("lost"));
        if (const auto holder = holder_text(device); !holder.empty()) line += "  " + holder;
        lines.push_back(std::move(line));
    }
    if (lines.empty()) lines.push_back(frame.title + "  no GPU");
    return lines;
}

}  // namespace ponk::cli
