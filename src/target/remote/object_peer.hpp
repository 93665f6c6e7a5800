// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "snapshot/transfer.hpp"
#include "target/remote/link/box_connection.hpp"

namespace ponk::target::remote {

// The object store of a box, through a connection that outlives it.
class BoxObjects final : public snapshot::ObjectPeer {
public:
    explicit BoxObjects(BoxConnection& connection) : connection_(connection) {}

    Result<std::vector<Digest>> missing(const std::vector<Digest>& digests,
                                        std::stop_token stop) override;
    Result<> put(snapshot::ObjectBatch batch, std::stop_token stop) override;
    Result<snapshot::ObjectBatch> get(const std::vector<snapshot::ObjectPart>& from,
                                      std::stop_token stop) override;

private:
    BoxConnection& connection_;
};

Json to_json(const std::vector<snapshot::ObjectPart>& parts);
Result<std::vector<snapshot::ObjectPart>> parse_parts(const Json& list);

// As many digests as one message carries.
inline constexpr std::size_t most_digests = 100'000;

}  // namespace ponk::target::remote
