// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "snapshot/object_store.hpp"
#include "target/job/job.hpp"
#include "target/remote/link/box_connection.hpp"

namespace ponk::target::remote {

// Brings a run's tree to a box that lacks objects of it.
class TreeSender {
public:
    TreeSender(const Path& home, const snapshot::ObjectStore& objects, const JobSpec& spec);

    // `known`: what the box said it lacks, when it has the manifest; without it the difference to
    // the last tree that it held is asked for.
    Result<> send(BoxConnection& connection,
                  const std::optional<std::vector<Digest>>& known,
                  const Progress& progress,
                  const std::stop_token& stop);
    // How many objects the tree has.
    Result<std::size_t> object_count();
    // The box has all of it now.
    void remember() const;

private:
    Result<const std::vector<Digest>*> objects();
    Result<std::vector<Digest>> candidates();

    const snapshot::ObjectStore& objects_;
    const JobSpec& spec_;
    Path last_;
    std::optional<std::vector<Digest>> all_;  // of the tree, once they were asked for
};

// Fetches the tree `id` from a box into our store.
Result<> fetch_tree(BoxConnection& connection,
                    const snapshot::ObjectStore& objects,
                    const Digest& id,
                    const Progress& progress,
                    const std::stop_token& stop);

}  // namespace ponk::target::remote
