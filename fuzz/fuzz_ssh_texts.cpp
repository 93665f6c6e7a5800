// SPDX-License-Identifier: Apache-2.0
// What a host or ssh says, and what people type: known_hosts, fingerprints, addresses, messages.
#include "ssh/failure.hpp"
#include "ssh/host_key.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::ssh;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& key : parse_known_hosts(text)) {
        // What is kept must read back as the same key.
        const auto again = parse_known_hosts(key.line);
        if (again.size() != 1 || again[0].fingerprint != key.fingerprint) std::abort();
    }
    (void)parse_fingerprint(text);
    if (const auto address = parse_address(text)) {
        const auto again = parse_address(address->text());
        if (!again || !(*again == *address)) std::abort();
        if (address->host.empty() || address->host.front() == '-') std::abort();
    }
    (void)error_from({"ann", "box"}, text);
    return 0;
}
