// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/remote_staging.hpp"

#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "base/text.hpp"
#include "executor/remote/host_file.hpp"
#include "executor/remote/object_peer.hpp"
#include "snapshot/transfer.hpp"

#include <algorithm>

namespace ponk::executor::remote {

namespace {

// A line now and then, however many threads carry.
class Teller {
public:
    Teller(const Progress& progress, std::string what)
        : progress_(progress), what_(std::move(what)), begin_(boot_milliseconds()), told_(begin_)
    {
    }

    void note(const snapshot::TransferProgress& now)
    {
        const auto time = boot_milliseconds();
        {
            auto told = told_.lock();
            if (time - *told < tell_every_ms && now.objects < now.total_objects) return;
            *told = time;
        }
        if (!progress_) return;
        progress_(fmt::format("{}: {} of {} objects, {} in {:.2f} s",
                              what_,
                              now.objects,
                              now.total_objects,
                              byte_size_text(now.bytes),
                              static_cast<double>(time - begin_) / 1000));
    }

private:
    const Progress& progress_;
    std::string what_;
    std::int64_t begin_;
    Synced<std::int64_t> told_;
};

}  // namespace

TreeSender::TreeSender(const Path& home, const snapshot::ObjectStore& objects, const Job& job)
    : objects_(objects), job_(job),
      last_(last_manifest_file(home, host_of(job), job.context.source))
{
}

Result<const std::vector<Digest>*> TreeSender::objects()
{
    if (!all_) all_ = snapshot::objects_of(TRY(objects_.read_manifest(job_.spec.snapshot)));
    return &*all_;
}

Result<std::size_t> TreeSender::object_count()
{
    return TRY(objects())->size();
}

Result<std::vector<Digest>> TreeSender::candidates()
{
    auto all = *TRY(objects());
    const auto text = os::read_file(last_, 4096);
    Digest id;
    if (!text || !parse_digest(trim(*text), id) || !TRY(objects_.contains(id))) return all;
    const auto before = objects_.read_manifest(id);
    if (!before) return all;
    KeyedSet<> had;
    for (const auto& digest : snapshot::objects_of(*before))
        had.insert(digest.text());
    std::erase_if(all, [&had](const Digest& digest) { return had.contains(digest.text()); });
    return all;
}

Result<> TreeSender::send(AgentConnection& connection,
                          const std::optional<std::vector<Digest>>& known,
                          const Progress& progress,
                          const std::stop_token& stop)
{
    HostObjects peer(connection);
    Teller teller(progress, "sending the project");
    auto missing = known ? snapshot::among(*known, *TRY(objects()))
                         : TRY(peer.missing(TRY(candidates()), stop));
    if (!known) missing.push_back(job_.spec.snapshot);
    return snapshot::send_objects(
        objects_,
        peer,
        missing,
        [&teller](const snapshot::TransferProgress& now) { teller.note(now); },
        stop);
}

void TreeSender::remember() const
{
    // Only a hint: what it says wrongly costs a question more.
    if (os::make_directories(last_.parent_path()))
        static_cast<void>(
            os::replace_file(last_, job_.spec.snapshot.text() + "\n", 0600, os::Durable::no));
}

Result<> fetch_tree(AgentConnection& connection,
                    const snapshot::ObjectStore& objects,
                    const Digest& id,
                    const Progress& progress,
                    const std::stop_token& stop)
{
    HostObjects peer(connection);
    TRY(snapshot::fetch_objects(objects, peer, {id}, {}, stop));
    const auto manifest = TRY(objects.read_manifest(id));
    Teller teller(progress, "fetching outputs");
    return snapshot::fetch_objects(
        objects,
        peer,
        snapshot::objects_of(manifest),
        [&teller](const snapshot::TransferProgress& now) { teller.note(now); },
        stop);
}

}  // namespace ponk::executor::remote
