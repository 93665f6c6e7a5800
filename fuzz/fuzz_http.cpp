// SPDX-License-Identifier: Apache-2.0
// Requests as they come by TCP, cut into pieces at places that the input names: however they are
// cut, the same heads and the same bodies must come out.
#include "net/request_reader.hpp"
#include "net/target.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

using ponk::net::RequestReader;
using Step = RequestReader::Step;

// Everything that is understood of `bytes`, read in pieces of `piece` bytes.
std::string read_all(std::string_view bytes, std::size_t piece, std::size_t most)
{
    RequestReader reader;
    std::string seen;
    std::string body;
    bool in_head = true;
    const auto feed = [&] {
        if (bytes.empty()) return false;
        const auto now = std::min(piece, bytes.size());
        std::memcpy(reader.room(now).data(), bytes.data(), now);
        reader.received(now);
        bytes.remove_prefix(now);
        return true;
    };
    for (;;) {
        const auto step = in_head ? reader.read_head() : reader.read_body(body, most);
        if (step == Step::piece && body.empty()) std::abort();
        // Also with bytes that end in the middle of a request, and before an error.
        seen += body;
        body.clear();
        if (step == Step::bad) return seen + "bad " + std::to_string(reader.problem().status);
        if (step == Step::more && !feed()) return seen;
        if (step != Step::ready) continue;
        if (in_head) {
            seen += "\n" + std::string(reader.method()) + " " + std::string(reader.target()) + "\n";
            static_cast<void>(ponk::net::parse_target(reader.target()));
            for (const auto& [name, value] : reader.take_headers())
                seen += name + ": " + value + "\n";
        } else {
            if (!reader.has_all()) std::abort();
            reader.next_request();
        }
        in_head = !in_head;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2 || size > 64 * 1024) return 0;
    const std::size_t piece = data[0] + 1U;
    const std::size_t most = data[1] + 1U;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto whole = read_all(bytes, bytes.size() + 1, bytes.size() + 1);
    const auto cut = read_all(bytes, piece, most);
    // An error may be found before or after what came with it; what was understood is the same.
    const auto same = std::min(whole.find("bad "), cut.find("bad "));
    if (whole.substr(0, same) != cut.substr(0, same)) std::abort();
    return 0;
}
