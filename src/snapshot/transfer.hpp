// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "snapshot/manifest.hpp"
#include "snapshot/object_store.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

// Objects on their way between two stores. They travel as their files hold them (compressed or
// not), in bounded batches; the receiver verifies each before it gets its name. What has arrived
// stays, so a transfer that was cut goes on where it was.
namespace ponk::snapshot {

// A stretch of an object's file. Small ones travel whole.
struct ObjectPart {
    Digest digest;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;   // of this part
    std::uint64_t total = 0;  // of the file
};

// Parts and their bytes, one after the other.
struct ObjectBatch {
    std::vector<ObjectPart> parts;
    std::string bytes;
};

// A batch has about so many bytes; a part is never longer than `longest_part`.
inline constexpr std::size_t batch_size = std::size_t{4} << 20;
inline constexpr std::size_t batch_objects = 256;
inline constexpr std::size_t longest_part = chunked_above;

// The other store. Calls may come from several threads at once.
class ObjectPeer {
public:
    virtual ~ObjectPeer() = default;
    // Of these, the ones that are not there.
    virtual Result<std::vector<Digest>> missing(const std::vector<Digest>& digests,
                                                std::stop_token stop) = 0;
    // Stores a batch there; durable when it returns.
    virtual Result<> put(ObjectBatch batch, std::stop_token stop) = 0;
    // Parts of these objects from these offsets, as many as fit into a batch, in this order.
    virtual Result<ObjectBatch> get(const std::vector<ObjectPart>& from, std::stop_token stop) = 0;
};

struct TransferProgress {
    std::uint64_t bytes = 0;
    std::uint64_t objects = 0;
    std::uint64_t total_objects = 0;
};
using OnTransfer = std::function<void(const TransferProgress&)>;

// What a manifest names, each once, without the manifest itself.
std::vector<Digest> objects_of(const Manifest& manifest);
// Of these, the ones that the store lacks.
Result<std::vector<Digest>> missing_objects(const ObjectStore& store,
                                            const std::vector<Digest>& digests,
                                            const std::stop_token& stop);

// Of what somebody else named, what is in `ours`, each once: who asks for objects gets none but
// those that were meant for it.
std::vector<Digest> among(const std::vector<Digest>& named, const std::vector<Digest>& ours);

// Sends objects, several batches at once. Repeats nothing that the peer has said it holds.
Result<> send_objects(const ObjectStore& store,
                      ObjectPeer& peer,
                      const std::vector<Digest>& digests,
                      const OnTransfer& progress,
                      std::stop_token stop);
// Fetches objects that the store lacks.
Result<> fetch_objects(const ObjectStore& store,
                       ObjectPeer& peer,
                       const std::vector<Digest>& digests,
                       const OnTransfer& progress,
                       std::stop_token stop);

// The two ends of `put` and `get` on the store's own machine.
// Verifies and stores; `damaged` when bytes have another digest than they claim.
Result<> receive_batch(const ObjectStore& store, const ObjectBatch& batch);
Result<ObjectBatch> read_batch(const ObjectStore& store, const std::vector<ObjectPart>& from);
// How much of an object's file lies here after a transfer that was cut.
std::uint64_t received_so_far(const ObjectStore& store, const Digest& digest);

}  // namespace ponk::snapshot
