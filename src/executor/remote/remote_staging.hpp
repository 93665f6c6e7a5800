// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/remote/link/agent_connection.hpp"
#include "snapshot/object_store.hpp"

namespace ponk::executor::remote {

// A line of progress is said so often.
inline constexpr std::int64_t tell_every_ms = 500;

// Brings a run's tree to a host that lacks objects of it.
class TreeSender {
public:
    TreeSender(const Path& home, const snapshot::ObjectStore& objects, const Job& job);

    // `known`: what the host said it lacks, when it has the manifest; without it the difference to
    // the last tree that it held is asked for.
    Result<> send(AgentConnection& connection,
                  const std::optional<std::vector<Digest>>& known,
                  const Progress& progress,
                  const std::stop_token& stop);
    // How many objects the tree has.
    Result<std::size_t> object_count();
    // The host has all of it now.
    void remember() const;

private:
    Result<const std::vector<Digest>*> objects();
    Result<std::vector<Digest>> candidates();

    const snapshot::ObjectStore& objects_;
    const Job& job_;
    Path last_;
    std::optional<std::vector<Digest>> all_;  // of the tree, once they were asked for
};

// Fetches the tree `id` from a host into our store.
Result<> fetch_tree(AgentConnection& connection,
                    const snapshot::ObjectStore& objects,
                    const Digest& id,
                    const Progress& progress,
                    const std::stop_token& stop);

}  // namespace ponk::executor::remote
