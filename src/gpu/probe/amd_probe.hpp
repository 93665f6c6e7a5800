// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/probe/probe.hpp"

namespace ponk::gpu {

// AMD's cards, as the kernel's driver shows them in /sys: files are read, nothing is loaded. Only
// cards that can compute (the kernel gives them a unique id and a node of /dev/kfd) count, so that
// the graphics inside a processor are none. `root` is "/", or a made tree.
class AmdProbe : public Probe {
public:
    explicit AmdProbe(Path root);

    // Whether there is such a driver.
    static bool is_present(const Path& root);

    Result<Inventory> inventory(Deadline deadline, std::stop_token stop) override;
    Result<Sample> sample(Deadline deadline, std::stop_token stop) override;

private:
    struct Card {
        Device device;
        Path folder;         // …/device
        std::string kfd_id;  // its number there
    };
    [[nodiscard]] std::vector<Card> find_cards() const;
    [[nodiscard]] DeviceSample measure(const Card& card) const;

    Path root_;
    std::vector<Card> cards_;
    bool looked_ = false;
};

}  // namespace ponk::gpu
