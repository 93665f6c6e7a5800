// SPDX-License-Identifier: Apache-2.0
// Data that runs read and that no snapshot has: docs/design/agent-protocol.md, "Inputs".
#include "agent/calls.hpp"
#include "agent/input_trees.hpp"
#include "base/text.hpp"
#include "executor/remote/wire/message.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/finish_copy.hpp"
#include "executor/run_directory/object_trees.hpp"

#include <algorithm>
#include <filesystem>

namespace ponk::agent {

using namespace executor::remote;
using model::Input;

namespace {

// So much of a disk is left for the logs of runs.
constexpr std::uint64_t spared = std::uint64_t{64} << 20;
constexpr std::size_t most_lists = 4;

Result<Digest> digest_of(const Input& input)
{
    if (const auto digest = model::manifest_of(input)) return *digest;
    return fail(ErrorKind::damaged, "input '{}' has no list of files", printable(input.path));
}

std::uint64_t missing_bytes(const InputList& list, const std::string& arrived)
{
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < list.pieces.size(); ++i) {
        if (arrived[i] != '1' && !list.pieces[i].is_hole()) bytes += list.pieces[i].size;
    }
    return bytes;
}

// Before anything is sent: half of an input is of no use.
Result<> require_space(const Path& home, const Input& input, std::uint64_t needed)
{
    const auto free = TRY(os::free_space(home));
    if (needed + spared <= free) return {};
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("input '{}' needs {} more in {}, and that disk has {} free",
                          printable(input.path),
                          byte_size_text(needed),
                          os::in_quotes(home),
                          byte_size_text(free)),
              "Free space there, or write 'scratch: FOLDER' into the target's .compute file, with "
              "a folder on a larger disk of that machine."));
}

}  // namespace

// As the run shall see them: what is here, not what the daemon has.
Result<> Calls::place_inputs(executor::Job& job) const
{
    std::error_code problem;
    const auto home = std::filesystem::canonical(home_, problem);
    if (problem) return fail_errno(problem.value(), "find {}", os::in_quotes(home_));
    for (auto& input : job.spec.inputs) {
        auto source = InputTree(home, TRY(digest_of(input))).tree();
        if (const auto file = model::file_of(input); !file.empty()) source /= file;
        input.source = source.native();
    }
    return {};
}

Result<std::shared_ptr<const InputList>> Calls::list_of(const Digest& id)
{
    const auto name = id.text();
    {
        const auto lists = lists_.lock();
        if (const auto found = lists->find(name); found != lists->end()) return found->second;
    }
    auto list = TRY(InputTree(home_, id).find_list());
    if (!list) return list;
    const auto lists = lists_.lock();
    if (lists->size() >= most_lists) lists->clear();
    lists->emplace(name, list);
    return list;
}

Result<std::optional<Reply>> Calls::lacking_input(const Input& input,
                                                  const executor::Progress& progress,
                                                  const std::stop_token& stop)
{
    const auto id = TRY(digest_of(input));
    const InputTree tree(home_, id);
    const auto lock = TRY(tree.lock(stop));
    auto list = TRY(list_of(id));
    if (!list) {
        if (!TRY(objects_.contains(id)))
            return Reply{{{"incomplete", true}, {"input", id.text()}, {"manifest", false}}};
        TRY(tree.begin(TRY(objects_.read_manifest(id))));
        list = TRY(list_of(id));
        if (!list) return fail(ErrorKind::damaged, "the list of an input was changed at once");
    }
    if (tree.is_whole(*list)) {
        tree.touch();
        return std::nullopt;
    }
    if (tree.is_marked_whole() && progress)
        progress(fmt::format("input '{}' was changed on that machine after it had arrived: "
                             "comparing it with its checksums",
                             printable(input.path)));
    auto arrived = TRY(tree.arrived(*list, stop));
    if (arrived.find('0') == std::string::npos) {
        TRY(tree.finish(*list));
        return std::nullopt;
    }
    TRY(require_space(home_, input, missing_bytes(*list, arrived)));
    return Reply{{{"incomplete", true}, {"input", id.text()}, {"manifest", true}},
                 std::move(arrived)};
}

Result<std::optional<Reply>> Calls::lacking_inputs(const executor::Job& job,
                                                   const executor::Progress& progress,
                                                   const std::stop_token& stop)
{
    std::vector<std::string> lines;
    for (const auto& input : job.spec.inputs) {
        if (auto reply = TRY(lacking_input(input, progress, stop)
                                 .map_error(while_doing("input '{}'", printable(input.path)))))
            return reply;
        lines.push_back(input.tree + " " + input.path);
    }
    if (!lines.empty()) TRY(runs_.note(job.spec.id, mark::inputs, join(lines, "\n")));
    return std::nullopt;
}

Result<Reply> Calls::put_input(const Json& head, const std::string& payload)
{
    Digest id;
    const auto& indexes = head["pieces"];
    const auto& sizes = head["sizes"];
    if (!parse_digest(head.text("input"), id) || !indexes.is_array() || !sizes.is_array() ||
        indexes.as_array().size() != sizes.as_array().size())
        return fail(ErrorKind::damaged, "a message: 'pieces' and 'sizes' do not match");
    const auto list = TRY(list_of(id));
    if (!list) return fail(ErrorKind::not_found, "the input's list is not there");
    InputTree::Parts parts;
    std::string_view rest = payload;
    for (std::size_t i = 0; i < sizes.as_array().size(); ++i) {
        const auto& index = indexes.as_array()[i];
        const auto& size = sizes.as_array()[i];
        if (!index.is_integer() || index.as_integer() < 0 || !size.is_integer() ||
            size.as_integer() < 0 || static_cast<std::uint64_t>(size.as_integer()) > rest.size())
            return fail(ErrorKind::damaged, "a message: 'pieces' is not a list of numbers");
        const auto length = static_cast<std::size_t>(size.as_integer());
        parts.emplace_back(static_cast<std::size_t>(index.as_integer()), rest.substr(0, length));
        rest.remove_prefix(length);
    }
    TRY(InputTree(home_, id).put(*list, parts));
    return Reply();
}

// What became of the inputs of a run that has ended.
Result<executor::Notices> Calls::check_inputs(const RunId& run)
{
    executor::Notices notices;
    const auto text = runs_.find_note(run, mark::inputs).value_or("");
    for (const auto& line : split(text, '\n')) {
        const auto space = line.find(' ');
        if (space == std::string::npos) continue;
        Input input;
        input.tree = line.substr(0, space);
        const auto id = model::manifest_of(input);
        const auto list = id ? TRY(list_of(*id)) : nullptr;
        if (!list) continue;
        const InputTree tree(home_, *id);
        if (!tree.is_whole(*list))
            notices.push_back(fmt::format("input '{}' was changed on the machine where it ran, "
                                          "while the run could use it; it is put right before the "
                                          "next run there uses it",
                                          printable(line.substr(space + 1))));
        tree.touch();
    }
    return notices;
}

// Nothing but the copy has its new and changed files: they stay until it is cleaned.
Result<executor::Rest>
Calls::finish_copy_of(const Subject& subject, const Json& keep, std::stop_token stop)
{
    // Its supervisor holds the lock for a moment longer than it takes to write the record.
    const auto task = subject.directory.task();
    if (executor::is_locked(task) && !executor::is_there(task / executor::control::exit))
        return fail(ErrorKind::conflict, "the run is still alive");
    const auto snapshot = runs_.find_digest(subject.id, mark::snapshot);
    if (!snapshot || !TRY(objects_.contains(*snapshot))) return executor::Rest();
    const auto manifest = TRY(objects_.read_manifest(*snapshot));
    executor::EndedRun run{subject.directory, manifest, {}, {}};
    const auto inputs = runs_.find_note(subject.id, mark::inputs).value_or("");
    for (const auto& line : split(inputs, '\n'))
        run.inputs.emplace_back(line.substr(std::min(line.size(), line.find(' ') + 1)));
    if (keep.is_array()) {
        for (const auto& line : keep.as_array()) {
            if (line.is_string()) run.keep.push_back(line.as_string());
        }
    }
    auto done = TRY(executor::finish_copy(executor::trees_of(objects_), run, std::move(stop)));
    if (!done) return executor::Rest();
    if (done->rest.kept) TRY(runs_.note(subject.id, mark::kept, done->rest.kept->text()));
    executor::remove_unchanged(subject.directory.work(), done->leftovers);
    return std::move(done->rest);
}

Result<Reply> Calls::finish(const Json& head, std::stop_token stop)
{
    const auto subject = TRY(subject_of(head));
    TRY(lease_.touch(stop));
    const auto lock = TRY(runs_.lock(subject.id, stop));
    auto rest = TRY(finish_copy_of(subject, head["keep"], std::move(stop)));
    for (auto& notice : TRY(check_inputs(subject.id)))
        rest.notices.push_back(std::move(notice));
    return Reply{to_json(rest)};
}

}  // namespace ponk::agent
