// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/object_peer.hpp"

#include "executor/remote/wire/message.hpp"

#include <algorithm>

namespace ponk::executor::remote {

using namespace std::chrono_literals;
using snapshot::ObjectBatch;
using snapshot::ObjectPart;

namespace {

// A batch over a slow line; a dead line is noticed sooner, by the connection itself.
constexpr auto patience = 600s;

}  // namespace

Json to_json(const std::vector<ObjectPart>& parts)
{
    JsonArray out;
    for (const auto& part : parts)
        out.emplace_back(JsonArray{part.digest.text(), part.offset, part.size, part.total});
    return out;
}

Result<std::vector<ObjectPart>> parse_parts(const Json& list)
{
    const auto wrong = [] {
        return fail(ErrorKind::damaged, "a message: 'parts' is not a list of parts");
    };
    std::vector<ObjectPart> out;
    if (!list.is_array() || list.as_array().size() > most_digests) return wrong();
    for (const auto& item : list.as_array()) {
        if (!item.is_array() || item.as_array().size() != 4 || !item.as_array()[0].is_string())
            return wrong();
        const auto& fields = item.as_array();
        ObjectPart part;
        if (!parse_digest(fields[0].as_string(), part.digest)) return wrong();
        std::uint64_t* const numbers[] = {&part.offset, &part.size, &part.total};
        for (std::size_t i = 0; i < 3; ++i) {
            if (!fields[i + 1].is_integer() || fields[i + 1].as_integer() < 0) return wrong();
            *numbers[i] = static_cast<std::uint64_t>(fields[i + 1].as_integer());
        }
        out.push_back(part);
    }
    return out;
}

Result<std::vector<Digest>> HostObjects::missing(const std::vector<Digest>& digests,
                                                 std::stop_token stop)
{
    std::vector<Digest> out;
    for (std::size_t at = 0; at < digests.size(); at += most_digests) {
        const auto end = std::min(digests.size(), at + most_digests);
        const std::vector<Digest> some(digests.begin() + static_cast<std::ptrdiff_t>(at),
                                       digests.begin() + static_cast<std::ptrdiff_t>(end));
        const auto answer = TRY(connection_.call(
            {.call = "has-objects", .payload = pack_digests(some)}, after(patience), stop));
        const auto missing = snapshot::among(TRY(unpack_digests(answer.payload)), some);
        out.insert(out.end(), missing.begin(), missing.end());
    }
    return out;
}

Result<> HostObjects::put(ObjectBatch batch, std::stop_token stop)
{
    TRY(connection_.call({.call = "put-objects",
                          .head = {{"parts", to_json(batch.parts)}},
                          .payload = std::move(batch.bytes)},
                         after(patience),
                         stop));
    return {};
}

Result<ObjectBatch> HostObjects::get(const std::vector<ObjectPart>& from, std::stop_token stop)
{
    auto answer = TRY(connection_.call(
        {.call = "get-objects", .head = {{"parts", to_json(from)}}}, after(patience), stop));
    ObjectBatch batch;
    batch.parts = TRY(parse_parts(answer.head["parts"]));
    batch.bytes = std::move(answer.payload);
    return batch;
}

}  // namespace ponk::executor::remote
