// SPDX-License-Identifier: Apache-2.0
#include "snapshot/transfer.hpp"

#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "snapshot/work_pool.hpp"

#include <algorithm>
#include <atomic>

namespace ponk::snapshot {

namespace {

// Batches under way at once: enough to fill a long line, little enough to hold in memory.
constexpr unsigned in_flight = 4;

std::string key_of(const Digest& digest)
{
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

// Hands out work to the threads of a transfer and counts what was done.
class Ledger {
public:
    Ledger(std::vector<ObjectPart> open, const OnTransfer& progress) : progress_(progress)
    {
        state_.lock()->open = std::move(open);
        total_ = state_.lock()->open.size();
    }

    // Some of what is left.
    std::vector<ObjectPart> take(std::size_t most) { return take_part(most, 1); }
    // The same, leaving something for the other threads: where sizes are not known, a batch may
    // hold but one of them.
    std::vector<ObjectPart> take_share(std::size_t most) { return take_part(most, in_flight); }
    void give_back(const std::vector<ObjectPart>& parts)
    {
        auto state = state_.lock();
        state->open.insert(state->open.end(), parts.begin(), parts.end());
    }
    void note(std::uint64_t bytes, std::uint64_t objects)
    {
        TransferProgress now;
        {
            auto state = state_.lock();
            state->done.bytes += bytes;
            state->done.objects += objects;
            now = state->done;
        }
        now.total_objects = total_;
        if (progress_) progress_(now);
    }

private:
    std::vector<ObjectPart> take_part(std::size_t most, std::size_t share)
    {
        auto state = state_.lock();
        const auto fair = (state->open.size() + share - 1) / share;
        const auto from = state->open.end() - static_cast<std::ptrdiff_t>(std::min(most, fair));
        std::vector<ObjectPart> out(from, state->open.end());
        state->open.erase(from, state->open.end());
        return out;
    }

    struct State {
        std::vector<ObjectPart> open;
        TransferProgress done;
    };
    const OnTransfer& progress_;
    Synced<State> state_;
    std::uint64_t total_ = 0;
};

// Of what was wanted, the objects that a batch did not reach.
std::vector<ObjectPart> not_reached(const std::vector<ObjectPart>& wanted, const ObjectBatch& batch)
{
    const auto reached = std::min(wanted.size(), batch.parts.size());
    return {wanted.begin() + static_cast<std::ptrdiff_t>(reached), wanted.end()};
}

// What remains of objects that a batch holds a part of.
std::vector<ObjectPart> rests(const std::vector<ObjectPart>& parts)
{
    std::vector<ObjectPart> out;
    for (const auto& part : parts) {
        if (part.offset + part.size < part.total)
            out.push_back({part.digest, part.offset + part.size});
    }
    return out;
}

Result<> run_threads(const std::stop_token& stop, const std::function<Result<bool>()>& step)
{
    WorkPool pool(in_flight, stop);
    for (std::size_t i = 0; i < pool.size(); ++i) {
        pool.add([&](std::size_t) -> Result<> {
            while (TRY(step())) {
                if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
            }
            return {};
        });
    }
    return pool.run();
}

std::vector<ObjectPart> from_the_start(const std::vector<Digest>& digests)
{
    std::vector<ObjectPart> out;
    out.reserve(digests.size());
    // The last is taken first.
    for (auto at = digests.rbegin(); at != digests.rend(); ++at)
        out.push_back({*at});
    return out;
}

}  // namespace

std::vector<Digest> objects_of(const Manifest& manifest)
{
    std::vector<Digest> out;
    KeyedSet<> seen;
    const auto add = [&](const Digest& digest) {
        if (seen.insert(key_of(digest)).second) out.push_back(digest);
    };
    for (const auto& entry : manifest.entries()) {
        if (!entry.is_file()) continue;
        if (entry.chunks.empty()) add(entry.digest);
        for (const auto& chunk : entry.chunks)
            add(chunk.digest);
    }
    return out;
}

Result<std::vector<Digest>> missing_objects(const ObjectStore& store,
                                            const std::vector<Digest>& digests,
                                            const std::stop_token& stop)
{
    std::vector<Digest> out;
    for (const auto& digest : digests) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        if (!TRY(store.contains(digest))) out.push_back(digest);
    }
    return out;
}

std::vector<Digest> among(const std::vector<Digest>& named, const std::vector<Digest>& ours)
{
    KeyedSet<> left;
    for (const auto& digest : ours)
        left.insert(key_of(digest));
    std::vector<Digest> out;
    for (const auto& digest : named) {
        if (left.erase(key_of(digest)) > 0) out.push_back(digest);
    }
    return out;
}

Result<> send_objects(const ObjectStore& store,
                      ObjectPeer& peer,
                      const std::vector<Digest>& digests,
                      const OnTransfer& progress,
                      std::stop_token stop)
{
    Ledger ledger(from_the_start(digests), progress);
    return run_threads(stop, [&]() -> Result<bool> {
        const auto wanted = ledger.take(batch_objects);
        if (wanted.empty()) return false;
        auto batch = TRY(read_batch(store, wanted));
        // What did not fit goes back before we wait for the peer: others may take it. But an
        // object's parts go one after the other.
        ledger.give_back(not_reached(wanted, batch));
        const auto later = rests(batch.parts);
        const auto bytes = batch.bytes.size();
        const auto whole = batch.parts.size() - later.size();
        TRY(peer.put(std::move(batch), stop));
        ledger.give_back(later);
        ledger.note(bytes, whole);
        return true;
    });
}

Result<> fetch_objects(const ObjectStore& store,
                       ObjectPeer& peer,
                       const std::vector<Digest>& digests,
                       const OnTransfer& progress,
                       std::stop_token stop)
{
    auto open = from_the_start(TRY(missing_objects(store, digests, stop)));
    for (auto& part : open)
        part.offset = received_so_far(store, part.digest);
    Ledger ledger(std::move(open), progress);
    return run_threads(stop, [&]() -> Result<bool> {
        const auto wanted = ledger.take_share(batch_objects);
        if (wanted.empty()) return false;
        const auto batch = TRY(peer.get(wanted, stop));
        if (batch.parts.empty() || batch.parts.size() > wanted.size())
            return fail(ErrorKind::damaged,
                        "the other store answered with another number of parts");
        for (std::size_t i = 0; i < batch.parts.size(); ++i) {
            if (batch.parts[i].digest != wanted[i].digest ||
                batch.parts[i].offset != wanted[i].offset)
                return fail(ErrorKind::damaged, "the other store answered with another object");
        }
        TRY(receive_batch(store, batch));
        const auto later = rests(batch.parts);
        ledger.give_back(not_reached(wanted, batch));
        ledger.give_back(later);
        ledger.note(batch.bytes.size(), batch.parts.size() - later.size());
        return true;
    });
}

}  // namespace ponk::snapshot
