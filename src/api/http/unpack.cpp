// SPDX-License-Identifier: Apache-2.0
#include "api/http/unpack.hpp"

#include "base/text.hpp"
#include "base/work_budget.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <zlib.h>

namespace ponk::api {

namespace {

constexpr std::size_t piece = std::size_t{64} << 10;
constexpr int gzip_alone = 16;  // is added to the window

class Inflater {
public:
    explicit Inflater(int window) : ready_(inflateInit2(&stream_, window) == Z_OK) {}
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    Result<std::string> run(std::string_view packed, std::size_t most)
    {
        if (!ready_) return fail(ErrorKind::internal, "zlib cannot begin to unpack");
        if (packed.size() > std::numeric_limits<uInt>::max()) return damaged();
        // zlib has no const, and does not write there.
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(packed.size());
        std::string unpacked;
        for (;;) {
            TRY(check_work());
            std::array<char, piece> room;
            stream_.next_out = reinterpret_cast<Bytef*>(room.data());
            stream_.avail_out = static_cast<uInt>(room.size());
            const int code = inflate(&stream_, Z_NO_FLUSH);
            if (code != Z_OK && code != Z_STREAM_END) return damaged();
            unpacked.append(room.data(), room.size() - stream_.avail_out);
            if (unpacked.size() > most)
                return fail(ErrorKind::invalid_argument,
                            "The body has more than {} once it is unpacked: send less at once",
                            byte_size_text(most));
            if (code == Z_OK) continue;
            if (stream_.avail_in == 0) return unpacked;
            // gzip knows files one after the other.
            if (inflateReset(&stream_) != Z_OK) return damaged();
        }
    }

private:
    static tl::unexpected<Error> damaged()
    {
        return fail(ErrorKind::invalid_argument,
                    "The body cannot be unpacked: it is cut, damaged, or of another encoding than"
                    " its Content-Encoding says");
    }

    z_stream stream_{};
    bool ready_;
};

}  // namespace

Result<std::string> unpack(std::string_view encoding, std::string_view body, std::size_t most)
{
    const auto name = lower(trim(encoding));
    if (name.empty() || name == "identity") return std::string(body);
    if (name == "gzip") return Inflater(MAX_WBITS + gzip_alone).run(body, most);
    if (name == "deflate") return Inflater(MAX_WBITS).run(body, most);
    return fail(ErrorKind::invalid_argument,
                "Unsupported Content-Encoding: {}. Send gzip, deflate, or set the exporter's"
                " compression to 'none'.",
                printable(encoding));
}

}  // namespace ponk::api
