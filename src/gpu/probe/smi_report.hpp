// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/device.hpp"

#include <string>
#include <string_view>
#include <vector>

// What `nvidia-smi` prints, understood.
namespace ponk::gpu {

struct SmiReport {
    Inventory inventory;
    Sample sample;
    bool has_mig = false;  // a card is in MIG mode: names of instances come from `nvidia-smi -L`
};

// An instance as `nvidia-smi -L` names it.
struct SmiInstance {
    std::string card;     // its uuid
    unsigned index = 0;   // on its card
    std::string profile;  // "1g.5gb"
    std::string uuid;
};
std::vector<SmiInstance> parse_smi_list(std::string_view text);

// `nvidia-smi -q -x`. Instances without an entry in `instances` are left out.
Result<SmiReport> parse_smi_report(std::string_view xml, const std::vector<SmiInstance>& instances);

// `nvidia-smi --query-gpu=uuid,compute_cap --format=csv,noheader`, put into the devices.
void add_capabilities(std::string_view csv, Inventory& inventory);

}  // namespace ponk::gpu
