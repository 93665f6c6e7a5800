// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/input_sender.hpp"

#include "base/synced.hpp"
#include "base/text.hpp"
#include "executor/remote/object_peer.hpp"
#include "executor/remote/remote_staging.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/pieces.hpp"
#include "snapshot/transfer.hpp"
#include "snapshot/work_pool.hpp"

#include <algorithm>
#include <fcntl.h>

namespace ponk::executor::remote {

using namespace std::chrono_literals;
using snapshot::Piece;

namespace {

// A batch over a slow line; a dead line is noticed sooner, by the connection itself.
constexpr auto patience = 600s;
// While one batch travels others are read and written.
constexpr unsigned carriers = 3;
constexpr std::size_t most_pieces = 2048;

class PieceSender {
public:
    PieceSender(AgentConnection& connection,
                const model::Input& input,
                const std::vector<Piece>& pieces,
                std::vector<std::size_t> missing,
                const Progress& progress)
        : connection_(connection), input_(input), pieces_(pieces), missing_(std::move(missing)),
          progress_(progress), begin_(boot_milliseconds())
    {
        for (const auto index : missing_)
            total_ += pieces_[index].size;
    }

    Result<> send(const std::stop_token& stop)
    {
        Path folder = input_.source;
        if (!model::file_of(input_).empty()) folder = folder.parent_path();
        const auto root = TRY(os::open_file(folder, O_RDONLY | O_DIRECTORY));
        snapshot::WorkPool pool(carriers, stop);
        for (std::size_t i = 0; i < pool.size(); ++i)
            pool.add([&](std::size_t) { return carry(root.get(), stop); });
        return pool.run();
    }

private:
    // The next pieces, which no other caller gets.
    std::vector<std::size_t> take()
    {
        const auto state = state_.lock();
        std::vector<std::size_t> taken;
        for (std::uint64_t bytes = 0;
             state->next < missing_.size() && taken.size() < most_pieces &&
             (taken.empty() || bytes + pieces_[missing_[state->next]].size <= snapshot::batch_size);
             ++state->next) {
            taken.push_back(missing_[state->next]);
            bytes += pieces_[missing_[state->next]].size;
        }
        return taken;
    }

    Result<> carry(int root, const std::stop_token& stop)
    {
        snapshot::ObjectEncoder encoder;
        for (auto taken = take(); !taken.empty(); taken = take()) {
            JsonArray indexes;
            JsonArray sizes;
            std::string payload;
            std::uint64_t bytes = 0;
            for (const auto index : taken) {
                if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
                const auto content = TRY(snapshot::read_piece(root, pieces_[index]));
                const auto encoded = TRY(encoder.encode(content));
                indexes.emplace_back(static_cast<std::int64_t>(index));
                sizes.emplace_back(static_cast<std::int64_t>(encoded.size()));
                payload += encoded;
                bytes += content.size();
            }
            AgentConnection::Request request{.call = "put-input", .payload = std::move(payload)};
            const auto tree = TRY(tree_text());
            request.head.set("input", tree);
            request.head.set("pieces", std::move(indexes));
            request.head.set("sizes", std::move(sizes));
            TRY(connection_.call(std::move(request), after(patience), stop));
            tell(bytes);
        }
        return {};
    }

    [[nodiscard]] Result<std::string> tree_text() const
    {
        if (const auto id = model::manifest_of(input_)) return id->text();
        return fail(ErrorKind::internal, "input '{}' has no list", printable(input_.path));
    }

    void tell(std::uint64_t bytes)
    {
        const auto now = boot_milliseconds();
        std::string line;
        {
            const auto state = state_.lock();
            state->sent += bytes;
            if (now - state->told < tell_every_ms && state->sent < total_) return;
            state->told = now;
            line = fmt::format("sending input '{}': {} of {} in {:.2f} s",
                               printable(input_.path),
                               byte_size_text(state->sent),
                               byte_size_text(total_),
                               static_cast<double>(now - begin_) / 1000);
        }
        if (progress_) progress_(line);
    }

    struct State {
        std::size_t next = 0;  // of `missing_`
        std::uint64_t sent = 0;
        std::int64_t told = 0;
    };
    AgentConnection& connection_;
    const model::Input& input_;
    const std::vector<Piece>& pieces_;
    std::vector<std::size_t> missing_;
    const Progress& progress_;
    std::int64_t begin_;
    std::uint64_t total_ = 0;
    Synced<State> state_;
};

}  // namespace

Result<> send_input(AgentConnection& connection,
                    const snapshot::ObjectStore& objects,
                    const Job& job,
                    const AgentConnection::Answer& answer,
                    const Progress& progress,
                    const std::stop_token& stop)
{
    Digest id;
    const auto wanted = [&](const model::Input& input) { return model::manifest_of(input) == id; };
    const auto& inputs = job.spec.inputs;
    const auto input = parse_digest(answer.head.text("input"), id)
                           ? std::find_if(inputs.begin(), inputs.end(), wanted)
                           : inputs.end();
    if (input == inputs.end())
        return fail(ErrorKind::damaged,
                    "the other side asks for something that is not an input of the run");
    if (!answer.head.boolean("manifest")) {
        HostObjects peer(connection);
        return snapshot::send_objects(objects, peer, {id}, {}, stop);
    }
    const auto manifest = TRY(objects.read_manifest(id));
    const auto pieces = snapshot::pieces_of(manifest);
    if (answer.payload.size() != pieces.size())
        return fail(ErrorKind::damaged, "the other side has another number of pieces");
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (answer.payload[i] != '1') missing.push_back(i);
    }
    return PieceSender(connection, *input, pieces, std::move(missing), progress)
        .send(stop)
        .map_error([&](const Error& error) {
            const auto told = error.within("send input '" + printable(input->path) + "'");
            return error.kind() == ErrorKind::conflict
                       ? told.with_hint("Wait until nothing writes there, then submit again.")
                       : told;
        });
}

}  // namespace ponk::executor::remote
