// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/smi_probe.hpp"

#include "base/text.hpp"
#include "gpu/probe/child_probe.hpp"
#include "gpu/probe/smi_report.hpp"

namespace ponk::gpu {

namespace {

constexpr std::size_t longest_report = std::size_t{64} << 20;

// What its exit codes mean, as its manual lists them, for people.
Error explain(int status, const std::string& text)
{
    const auto line = printable(trim(text.substr(0, text.find('\n'))).substr(0, 300));
    const auto message =
        fmt::format("'nvidia-smi' failed with code {}{}{}", status, line.empty() ? "" : ": ", line);
    const char* hint =
        "Try 'nvidia-smi'; 'sudo dmesg | grep -i nvrm' shows messages of the driver.";
    if (status == 4) hint = "Check 'ls -l /dev/nvidia*': join the group that may use these files.";
    if (status == 9)
        hint = "Run 'sudo modprobe nvidia', or install the driver again after an upgrade of the "
               "kernel.";
    if (status == 12) hint = "Install the driver's libraries in the version of its kernel module.";
    if (status == 15) hint = "A GPU is lost: restart the machine to use it again.";
    if (status == 18 || text.find("mismatch") != std::string::npos)
        hint = "The driver was changed while its old kernel module is loaded: restart the machine.";
    return {ErrorKind::unavailable, message, hint};
}

}  // namespace

SmiProbe::SmiProbe(Path program, std::vector<std::string> environment)
    : program_(std::move(program)), environment_(std::move(environment))
{
}

Result<SmiProbe::Said>
SmiProbe::run(const std::vector<std::string>& words, Deadline deadline, const std::stop_token& stop)
{
    std::vector<std::string> command{program_.native()};
    command.insert(command.end(), words.begin(), words.end());
    TRY(child_.start(command, environment_));
    child_.end_input();
    Said said;
    while (true) {
        const auto more = child_.read(said.text, deadline, stop);
        if (!more || said.text.size() > longest_report) child_.kill();
        if (!more && more.error().kind() == ErrorKind::timeout)
            return tl::unexpected(Error(ErrorKind::unavailable,
                                        "'nvidia-smi' did not answer in time",
                                        "If it hangs in a terminal too, restart the machine."));
        if (!TRY(more)) break;
        if (said.text.size() > longest_report)
            return fail(ErrorKind::damaged, "'nvidia-smi' does not stop writing");
    }
    const auto exit = child_.wait(deadline, stop);
    child_.kill();
    if (!exit) return fail(ErrorKind::unavailable, "'nvidia-smi' does not end");
    said.status = exit->status();
    return said;
}

Result<Inventory> SmiProbe::inventory(Deadline deadline, std::stop_token stop)
{
    const auto said = TRY(run({"-q", "-x"}, deadline, stop));
    if (said.status != 0) {
        Inventory none;
        none.way = "nvidia-smi";
        none.problem = explain(said.status, said.text);
        return none;
    }
    auto report = TRY(parse_smi_report(said.text, {}));
    instances_.clear();
    if (report.has_mig) {
        instances_ = TRY(run({"-L"}, deadline, stop)).text;
        report = TRY(parse_smi_report(said.text, parse_smi_list(instances_)));
    }
    // Absent from the report; programs of before 2021 do not know the question.
    const auto capabilities =
        TRY(run({"--query-gpu=uuid,compute_cap", "--format=csv,noheader"}, deadline, stop));
    if (capabilities.status == 0) add_capabilities(capabilities.text, report.inventory);
    known_ = report.inventory.devices;
    if (known_.empty() && !report.inventory.problem)
        report.inventory.problem =
            Error(ErrorKind::unavailable,
                  fmt::format("the NVIDIA driver {} finds no GPU", report.inventory.driver_version),
                  "'lspci | grep -i nvidia' shows whether the machine has one.");
    return report.inventory;
}

Result<Sample> SmiProbe::sample(Deadline deadline, std::stop_token stop)
{
    const auto said = TRY(run({"-q", "-x"}, deadline, stop));
    std::vector<std::string> uuids;
    for (const auto& device : known_)
        uuids.push_back(device.uuid);
    if (said.status == 0) {
        auto report = TRY(parse_smi_report(said.text, parse_smi_list(instances_)));
        report.sample.time = wall_milliseconds();
        add_missing(uuids, report.sample);
        return report.sample;
    }
    // It gives up over one lost card, and names that by its place.
    Sample sample{.time = wall_milliseconds(), .devices = {}};
    for (const auto& device : known_) {
        if (device.pci_bus_id.empty() ||
            lower(said.text).find(lower(device.pci_bus_id)) == std::string::npos)
            continue;
        DeviceSample lost;
        lost.uuid = device.uuid;
        lost.lost = printable(trim(said.text).substr(0, 300));
        sample.devices.push_back(std::move(lost));
    }
    if (sample.devices.empty()) return tl::unexpected(explain(said.status, said.text));
    return sample;
}

}  // namespace ponk::gpu
