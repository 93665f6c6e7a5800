// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/nvml/declarations.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// What the stand-in for the driver's library answers: the file that PONK_NVML_STAND_IN names, which
// is read again at each call. Lines "key = words" are below [driver], [gpu] (once per card) or
// [instance] (of the card before it); a figure that is absent is not supported.
//   [driver]    init, version, cuda; hang = yes: every call waits for ever; crash = yes
//   [gpu]       uuid, name, capability, max_clock, clock, pci (domain bus device), minor, memory
//               (total used), utilisation, power, power_limit, energy, temperature, ecc, mig (0 or
//               1), gpm (SM and tensor percent), xid, status (of every call); repeated: compute,
//               graphics, mps (pid memory, "?" when it is not told), busy (pid percent, and how
//               many ms ago where that is not new each time); wide = yes: entries of processes are
//               longer than they should be
//   [instance]  uuid, name, memory, ids (GPU and compute instance), gpm, compute
namespace ponk::nvml::stand_in {

struct Section {
    std::string kind;
    std::multimap<std::string, std::string> lines;
    int card = -1;  // index of an instance's card among all sections

    bool has(const char* key) const { return lines.count(key) != 0; }
    std::string text(const char* key) const;
    std::vector<std::uint64_t> numbers(const char* key) const;
};

std::vector<Section> read_state();
Section driver();
// A handle is the number of its section, and one.
Handle handle_of(std::size_t section);
Section section_of(Handle handle);

}  // namespace ponk::nvml::stand_in
