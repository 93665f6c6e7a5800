// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ponk::stub {

// Incremental SHA-256 without a library: the supervisor depends on libc only. Uses the
// processor's instructions where it has them (x86 SHA extensions, ARMv8 cryptography), since a log
// can be 100 GB.
class Sha256 {
public:
    Sha256() { start(); }
    void start();
    void update(const unsigned char* bytes, std::size_t size);
    // Writes 64 hex digits and a NUL; the computation is over then.
    void finish(char* text);

private:
    std::uint32_t state_[8];
    std::uint64_t length_;
    std::size_t held_;
    unsigned char block_[64];
};

}  // namespace ponk::stub
