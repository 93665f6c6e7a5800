// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/remote/link/agent_connection.hpp"
#include "snapshot/transfer.hpp"

namespace ponk::executor::remote {

// The object store of a host, through a connection that outlives it.
class HostObjects final : public snapshot::ObjectPeer {
public:
    explicit HostObjects(AgentConnection& connection) : connection_(connection) {}

    Result<std::vector<Digest>> missing(const std::vector<Digest>& digests,
                                        std::stop_token stop) override;
    Result<> put(snapshot::ObjectBatch batch, std::stop_token stop) override;
    Result<snapshot::ObjectBatch> get(const std::vector<snapshot::ObjectPart>& from,
                                      std::stop_token stop) override;

private:
    AgentConnection& connection_;
};

Json to_json(const std::vector<snapshot::ObjectPart>& parts);
Result<std::vector<snapshot::ObjectPart>> parse_parts(const Json& list);

// As many digests as one message carries.
inline constexpr std::size_t most_digests = 100'000;

}  // namespace ponk::executor::remote
