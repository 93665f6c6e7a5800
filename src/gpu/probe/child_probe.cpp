// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/child_probe.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::gpu {

using namespace std::chrono_literals;

namespace {

// A thousand processes on each of sixteen cards are a tenth of it.
constexpr std::size_t longest_line = std::size_t{8} << 20;

}  // namespace

ChildProbe::ChildProbe(Path program, std::vector<std::string> environment)
    : program_(std::move(program)), environment_(std::move(environment))
{
}

void ChildProbe::note_end(Deadline deadline, const std::stop_token& stop)
{
    // Its output ends a moment before the process does.
    const auto exit = child_.wait(std::min(deadline, after(1s)), stop);
    ended_ = !exit               ? std::string("closed its output")
             : exit->signal != 0 ? fmt::format("was ended by {}", os::signal_name(exit->signal))
                                 : fmt::format("ended with code {}", exit->code);
    child_.kill();
}

Result<std::optional<std::string>>
ChildProbe::ask_once(const std::string& request, Deadline deadline, const std::stop_token& stop)
{
    if (!child_.is_started()) {
        TRY(child_.start({program_.native()}, environment_));
        unread_.clear();
    }
    bool open = child_.send(request + "\n");
    auto end = std::string::npos;
    while (open && (end = unread_.find('\n')) == std::string::npos) {
        const auto more = child_.read(unread_, deadline, stop);
        // The answer may still come, and the next request must not take it for its own.
        if (!more) child_.kill();
        open = TRY(more);
        if (unread_.size() > longest_line) {
            child_.kill();
            return fail(ErrorKind::damaged,
                        "{} answers with a line that does not end",
                        os::in_quotes(program_));
        }
    }
    if (end == std::string::npos) {
        note_end(deadline, stop);
        return std::nullopt;
    }
    auto line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

Result<Json>
ChildProbe::ask(const std::string& request, Deadline deadline, const std::stop_token& stop)
{
    auto line = ask_once(request, deadline, stop);
    if (line && !*line) line = ask_once(request, deadline, stop);
    if (!line && line.error().kind() == ErrorKind::timeout)
        return tl::unexpected(Error(ErrorKind::unavailable,
                                    "the GPU driver did not answer in time",
                                    "Try 'nvidia-smi' or 'rocm-smi' there. If it hangs too, "
                                    "restart the machine ('sudo dmesg' may show the reason)."));
    const auto answer = TRY(line);
    if (!answer)
        return fail(ErrorKind::unavailable,
                    "the program that asks the GPU driver, {}, {} before it answered",
                    os::in_quotes(program_),
                    ended_);
    auto json = parse_json(*answer);
    if (json && json->is_object() && json->text("error").empty()) return json;
    child_.kill();
    return fail(ErrorKind::damaged,
                "{} does not follow the probe protocol: it answered '{}'",
                os::in_quotes(program_),
                printable(answer->substr(0, 200)));
}

Result<Inventory> ChildProbe::inventory(Deadline deadline, std::stop_token stop)
{
    auto found = TRY(inventory_from(TRY(ask("inventory", deadline, stop))));
    if (found.way.empty()) found.way = program_.filename();
    known_.clear();
    for (const auto& device : found.devices)
        known_.push_back(device.uuid);
    return found;
}

Result<Sample> ChildProbe::sample(Deadline deadline, std::stop_token stop)
{
    auto sample = TRY(sample_from(TRY(ask("sample", deadline, stop))));
    if (sample.time == 0) sample.time = wall_milliseconds();
    add_missing(known_, sample);
    return sample;
}

void add_missing(const std::vector<std::string>& known, Sample& sample)
{
    for (const auto& uuid : known) {
        const bool listed = std::any_of(sample.devices.begin(),
                                        sample.devices.end(),
                                        [&](const auto& device) { return device.uuid == uuid; });
        if (listed) continue;
        DeviceSample gone;
        gone.uuid = uuid;
        gone.lost = "the driver no longer lists it";
        sample.devices.push_back(std::move(gone));
    }
}

}  // namespace ponk::gpu
