// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/probe/driver_child.hpp"
#include "gpu/probe/probe.hpp"

namespace ponk::gpu {

// A program that speaks the probe protocol (docs/design/gpu.md): a word a line in, a line of JSON
// out. It is started with the first request and ends with its standard input. One that does not
// answer in time is killed; one that dies is started again, once per request.
class ChildProbe : public Probe {
public:
    ChildProbe(Path program, std::vector<std::string> environment);

    Result<Inventory> inventory(Deadline deadline, std::stop_token stop) override;
    Result<Sample> sample(Deadline deadline, std::stop_token stop) override;

private:
    Result<Json> ask(const std::string& request, Deadline deadline, const std::stop_token& stop);
    // nullopt when the program ended before it answered; `ended_` says how.
    Result<std::optional<std::string>>
    ask_once(const std::string& request, Deadline deadline, const std::stop_token& stop);
    void note_end(Deadline deadline, const std::stop_token& stop);

    Path program_;
    std::vector<std::string> environment_;
    DriverChild child_;
    std::string unread_;
    std::string ended_;
    std::vector<std::string> known_;  // uuids of the last inventory
};

// Adds a device that is lost for each of `known` that the sample lacks: a card that the driver had
// and does not list any more is not idle.
void add_missing(const std::vector<std::string>& known, Sample& sample);

}  // namespace ponk::gpu
