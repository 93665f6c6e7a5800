// SPDX-License-Identifier: Apache-2.0
#include "api/http/file_source.hpp"

#include "api/http/byte_range.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace ponk::api {

namespace {

// What a reader that has stopped reading holds.
constexpr std::size_t block = std::size_t{128} << 10;

class FileSource final : public net::BodySource {
public:
    FileSource(engine::OpenFile file, std::uint64_t from, std::uint64_t size, std::string first)
        : file_(std::move(file)), at_(from), left_(size), first_(std::move(first))
    {
    }
    void attach(std::function<void()> /*ring*/) override {}
    Step next(std::string& out) override
    {
        if (left_ == 0) return Step::end;
        auto bytes = first_.empty() ? file_.read(at_, std::min<std::uint64_t>(left_, block))
                                    : Result<std::string>(std::exchange(first_, {}));
        if (!bytes || bytes->empty()) return Step::broken;
        at_ += bytes->size();
        left_ -= bytes->size();
        out += *bytes;
        return Step::data;
    }

private:
    engine::OpenFile file_;
    std::uint64_t at_;
    std::uint64_t left_;
    std::string first_;
};

// The bytes that a request asks for, by its Range or as `offset`.
Result<ByteRange> range_of(const net::Request& request, std::uint64_t size)
{
    auto range = ByteRange::of(request.header("Range"), size);
    if (range.kind == ByteRange::Kind::outside)
        return fail(ErrorKind::invalid_argument, "the range is outside the file of {} bytes", size);
    if (const auto offset = request.parameter("offset")) {
        const auto from = parse_integer(*offset);
        if (!from || *from < 0 || static_cast<std::uint64_t>(*from) > size)
            return fail(ErrorKind::invalid_argument, "'offset' must be inside the file");
        range.from = static_cast<std::uint64_t>(*from);
        range.size = size - range.from;
    }
    return range;
}

}  // namespace

Result<std::unique_ptr<net::BodySource>>
make_file_source(engine::OpenFile file, std::uint64_t from, std::uint64_t size)
{
    auto first = TRY(file.read(from, std::min<std::uint64_t>(size, block)));
    return std::make_unique<FileSource>(std::move(file), from, size, std::move(first));
}

Result<net::Response> file_response(const net::Request& request, engine::OpenFile file)
{
    const auto size = file.size;
    const auto range = TRY(range_of(request, size));
    net::Response response;
    response.type = "application/octet-stream";
    response.headers.emplace_back("Accept-Ranges", "bytes");
    response.headers.emplace_back("Ponk-Size", std::to_string(size));
    if (range.kind == ByteRange::Kind::part) {
        response.status = 206;
        response.headers.emplace_back("Content-Range", range.text(size));
    }
    response.stream = TRY(make_file_source(std::move(file), range.from, range.size));
    return response;
}

}  // namespace ponk::api
