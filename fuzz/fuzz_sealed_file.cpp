// SPDX-License-Identifier: Apache-2.0
// Input: a file of a secret, or what follows its first line (which then gets its checksum, so that
// the parser behind it is reached).
#include "base/hash.hpp"
#include "secrets/sealed_file.hpp"

#include <cstdint>
#include <cstdlib>

using namespace ponk::secrets;

namespace {

void read_and_write(std::string_view bytes)
{
    const auto file = parse_sealed_file(bytes);
    if (!file) return;
    const auto again = parse_sealed_file(to_text(*file));
    if (!again || to_text(*again) != to_text(*file)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    read_and_write(bytes);
    read_and_write("ponk-secret 1 " + ponk::sha256(bytes).text() + "\n" + std::string(bytes));
    return 0;
}
