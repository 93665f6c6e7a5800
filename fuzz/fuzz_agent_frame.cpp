// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/object_peer.hpp"
#include "executor/remote/run_copy.hpp"
#include "executor/remote/wire/message.hpp"

#include <cstdint>
#include <cstdlib>

// Frames of a stranger, and each reader of their heads. What is accepted encodes to itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace ponk::executor::remote;
    FrameParser parser;
    parser.take({reinterpret_cast<const char*>(data), size});
    for (;;) {
        const auto frame = parser.next();
        if (!frame || !*frame) return 0;
        if (!encode(**frame)) std::abort();
        const auto& head = (*frame)->head;
        static_cast<void>(parse_hello(head));
        static_cast<void>(parse_error(head));
        static_cast<void>(parse_host(head));
        static_cast<void>(parse_job_status(head));
        static_cast<void>(parse_growing_files(head["files"]));
        static_cast<void>(parse_parts(head["parts"]));
        static_cast<void>(unpack_digests((*frame)->payload));
        if (const auto job = parse_job(head)) {
            ponk::JsonObject again;
            put_job(again, *job);
            if (!parse_job(again)) std::abort();
        }
    }
}
