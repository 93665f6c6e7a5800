// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "dockerapi/image.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

// The streams of JSON lines with which an engine tells how a long call goes, turned into lines for
// people and a result. Bytes may come in any pieces; what is not understood is skipped.
namespace ponk::dockerapi {

// Cuts a stream into its JSON lines. A line past 16 MiB is dropped.
class JsonLines {
public:
    void take(std::string_view bytes, const std::function<void(const Json&)>& each);

private:
    std::string held_;
};

class PullProgress {
public:
    explicit PullProgress(Report report) : report_(std::move(report)) {}
    void take(std::string_view bytes);
    [[nodiscard]] Result<> result() const;

private:
    void message(const Json& message);

    Report report_;
    JsonLines lines_;
    std::string error_;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> layers_;  // bytes had, in all
    std::int64_t told_percent_ = -1;
};

// One thing that BuildKit did, as its trace describes it.
struct BuildTrace {
    struct Step {
        std::string digest;
        std::string name;
        bool cached = false;
        bool started = false;
        bool completed = false;
        std::string error;
    };
    struct Log {
        std::string step;
        std::string bytes;
    };
    std::vector<Step> steps;
    std::vector<Log> logs;
};
// nullopt when the bytes are not such a message (it is one in Protocol Buffers).
std::optional<BuildTrace> parse_build_trace(std::string_view bytes);

class BuildProgress {
public:
    explicit BuildProgress(Report report) : report_(std::move(report)) {}
    void take(std::string_view bytes);
    // The image's id.
    [[nodiscard]] Result<std::string> result() const;

private:
    struct Printed {
        std::string line;  // not yet ended
        std::string tail;  // the end of all
    };
    void message(const Json& message);
    void trace(const BuildTrace& trace);
    void print(const std::string& step, std::string_view bytes);

    Report report_;
    JsonLines lines_;
    std::string image_;
    std::string error_;
    std::string failed_step_;
    std::set<std::string> told_;
    std::map<std::string, Printed> printed_;
};

}  // namespace ponk::dockerapi
