// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/progress.hpp"

#include "base/base64.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::dockerapi {

namespace {

constexpr std::size_t longest_line = std::size_t{16} << 20;
constexpr std::size_t tail_size = 4096;

std::string error_in(const Json& message)
{
    auto text = message["errorDetail"].text("message");
    return text.empty() ? message.text("error") : text;
}

}  // namespace

void JsonLines::take(std::string_view bytes, const std::function<void(const Json&)>& each)
{
    held_ += bytes;
    std::size_t begin = 0;
    for (auto end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', begin)) {
        if (const auto message = parse_json(std::string_view(held_).substr(begin, end - begin)))
            each(*message);
        begin = end + 1;
    }
    held_.erase(0, begin);
    if (held_.size() > longest_line) held_.clear();
}

void PullProgress::take(std::string_view bytes)
{
    lines_.take(bytes, [this](const Json& each) { message(each); });
}

void PullProgress::message(const Json& message)
{
    if (auto error = error_in(message); !error.empty()) {
        error_ = std::move(error);
        return;
    }
    const auto layer = message.text("id");
    const auto status = message.text("status");
    if (status == "Downloading" && !layer.empty()) {
        const auto& detail = message["progressDetail"];
        layers_[layer] = {detail.integer("current"), detail.integer("total")};
    } else if (status == "Download complete" || status == "Pull complete") {
        if (const auto known = layers_.find(layer); known != layers_.end())
            known->second.first = known->second.second;
    } else {
        return;
    }
    std::int64_t had = 0;
    std::int64_t all = 0;
    for (const auto& [name, sizes] : layers_) {
        had += sizes.first;
        all += sizes.second;
    }
    // Layers are announced one by one, so the whole grows: only steps forward are told.
    const auto percent = all > 0 ? had * 100 / all : 0;
    if (percent < told_percent_ + 5) return;
    told_percent_ = percent;
    if (report_)
        report_(fmt::format("pulling the image: {} of {}",
                            byte_size_text(static_cast<std::uint64_t>(had)),
                            byte_size_text(static_cast<std::uint64_t>(all))));
}

Result<> PullProgress::result() const
{
    if (error_.empty()) return {};
    const bool refused = error_.find("denied") != std::string::npos ||
                         error_.find("unauthorized") != std::string::npos;
    return tl::unexpected(
        Error(error_.find("not found") != std::string::npos || refused ? ErrorKind::not_found
                                                                       : ErrorKind::unavailable,
              printable(error_),
              refused ? "Check the image's name; for a private registry log in with 'docker login'."
                      : ""));
}

void BuildProgress::take(std::string_view bytes)
{
    lines_.take(bytes, [this](const Json& each) { message(each); });
}

void BuildProgress::message(const Json& message)
{
    if (auto error = error_in(message); !error.empty()) error_ = std::move(error);
    const auto id = message.text("id");
    if (id == "moby.image.id") {
        image_ = message["aux"].text("ID");
    } else if (id == "moby.buildkit.trace" && message["aux"].is_string()) {
        if (const auto bytes = from_base64(message["aux"].as_string()))
            if (const auto trace_seen = parse_build_trace(*bytes)) trace(*trace_seen);
    } else if (const auto text = message.text("stream"); !text.empty()) {
        print({}, text);  // an engine without BuildKit
    } else if (image_.empty() && message["aux"].is_object()) {
        image_ = message["aux"].text("ID");
    }
}

void BuildProgress::trace(const BuildTrace& trace)
{
    for (const auto& step : trace.steps) {
        if (!step.error.empty() && step.error.find("context canceled") == std::string::npos)
            failed_step_ = step.digest;
        if (!step.started || step.name.starts_with("[internal]")) continue;
        if (!told_.insert(step.digest).second) continue;
        if (report_) report_(printable(step.name) + (step.cached ? " (cached)" : ""));
    }
    for (const auto& log : trace.logs)
        print(log.step, log.bytes);
}

void BuildProgress::print(const std::string& step, std::string_view bytes)
{
    auto& printed = printed_[step];
    printed.tail += bytes;
    if (printed.tail.size() > 2 * tail_size) printed.tail.erase(0, printed.tail.size() - tail_size);
    printed.line += bytes;
    // A progress bar rewrites its line with CR: each state would be a line of its own.
    for (auto end = printed.line.find('\n'); end != std::string::npos;
         end = printed.line.find('\n')) {
        auto line = printed.line.substr(0, end);
        if (line.ends_with('\r')) line.pop_back();
        if (const auto back = line.rfind('\r'); back != std::string::npos) line.erase(0, back + 1);
        if (report_ && !line.empty()) report_(printable(line));
        printed.line.erase(0, end + 1);
    }
}

Result<std::string> BuildProgress::result() const
{
    if (error_.empty()) {
        if (!image_.empty()) return image_;
        return fail(ErrorKind::unavailable, "the Docker engine ended the build without a result");
    }
    auto message = printable(error_);
    if (const auto found = printed_.find(failed_step_); found != printed_.end()) {
        const auto& text = found->second.tail;
        const auto tail =
            trim(std::string_view(text).substr(text.size() - std::min(text.size(), tail_size)));
        for (const auto& line : split(tail, '\n'))
            message += "\n  " + printable(trim(line));
    }
    return tl::unexpected(Error(ErrorKind::unavailable, std::move(message)));
}

}  // namespace ponk::dockerapi
