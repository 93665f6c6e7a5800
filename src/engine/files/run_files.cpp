// SPDX-License-Identifier: Apache-2.0
#include "engine/files/run_files.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/work_count.hpp"
#include "engine/tracked/child_of.hpp"
#include "snapshot/link_way.hpp"
#include "snapshot/materialise.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

using store::ArtifactFolder;
using store::ArtifactPath;

ArtifactPath fixed(const std::string& text)
{
    return ArtifactPath::parse(text).value_or(ArtifactPath());
}

// The path among the outputs; nullopt when it is not below them.
std::optional<std::string> among_outputs(const ArtifactPath& path)
{
    if (path.is_root() || path.names().front() != outputs_name) return std::nullopt;
    return path.below(1).text();
}

bool by_name(const ArtifactFolder::Entry& left, const ArtifactFolder::Entry& right)
{
    return left.name < right.name;
}

// Those of `more` whose names are not there yet. Both are sorted by name, and so is what they
// become.
void add_missing(std::vector<ArtifactFolder::Entry>& entries,
                 const std::vector<ArtifactFolder::Entry>& more)
{
    std::vector<ArtifactFolder::Entry> all;
    // Of equal names that of the first stays.
    std::set_union(
        entries.begin(), entries.end(), more.begin(), more.end(), std::back_inserter(all), by_name);
    entries = std::move(all);
}

}  // namespace

ArtifactFolder client_files(const Context& context)
{
    return ArtifactFolder(context.home / "artifacts");
}

ArtifactPath client_folder(std::int64_t experiment, const RunId& run)
{
    return fixed(std::to_string(experiment) + "/" + run.text());
}

OpenFile open_stored(ArtifactFolder::File file)
{
    OpenFile open{file.size, file.changed, std::move(file.version), {}};
    open.read = [fd = std::make_shared<os::Fd>(std::move(file.fd))](std::uint64_t offset,
                                                                    std::size_t length) {
        return os::read_at(fd->get(), offset, length);
    };
    return open;
}

RunFiles::RunFiles(const Context& context, const model::Run& run, ArtifactPath root)
    : folder_(client_files(context)), root_(std::move(root)), objects_(&context.objects),
      outputs_id_(run.outputs), ended_(run.ended)
{
}

Result<RunFiles> RunFiles::of_itself(const Context& context, const model::Run& run)
{
    const auto place = TRY(store::Tracking(context.history).find_place(run.id));
    if (!place) return fail(ErrorKind::not_found, "Run with id={} not found", run.id.text());
    RunFiles files(context, run, client_folder(place->experiment, run.id) / fixed("artifacts"));
    Digest digest;
    if (!parse_digest(run.outputs, digest)) {
        files.live_ = LiveFiles::of(context, run);
        return files;
    }
    auto manifest = context.objects.shared_manifest(digest);
    if (manifest) {
        files.outputs_ = std::move(*manifest);
    } else {
        files.problem_ = manifest.error().within("the list of the run's outputs");
    }
    return files;
}

Result<RunFiles> RunFiles::of(const Context& context, const model::Run& run)
{
    auto files = TRY(of_itself(context, run));
    if (!run.parent.empty())
        files.made_ = TRY(MadeFiles::of(context, run.parent, child_runs_folder, run.id.text()));
    return files;
}

Result<std::optional<MadeFiles>> MadeFiles::of(const Context& context,
                                               const std::string& maker,
                                               const char* kind,
                                               const std::string& id)
{
    const auto run_id = RunId::parse(maker);
    if (!run_id) return std::optional<MadeFiles>();
    const auto run = context.history.get_run(*run_id);
    if (!run && run.error().kind() == ErrorKind::not_found) return std::optional<MadeFiles>();
    if (!run) return tl::unexpected(run.error());
    return std::optional(
        MadeFiles(std::make_shared<const RunFiles>(TRY(RunFiles::of_itself(context, *run))),
                  fixed(fmt::format("{}/{}", kind, id))));
}

Result<std::optional<std::vector<MadeFiles::Entry>>> MadeFiles::list(const ArtifactPath& path) const
{
    return maker_->list_own(root_ / path);
}

Result<OpenFile> MadeFiles::open(const ArtifactPath& path) const
{
    return maker_->open_own(root_ / path);
}

std::vector<std::pair<std::string, std::uint64_t>> MadeFiles::all() const
{
    std::vector<std::pair<std::string, std::uint64_t>> files;
    if (!maker_->outputs_) return files;
    const auto prefix = root_.text() + "/";
    for (const auto& entry : maker_->outputs_->below(root_.text())) {
        if (entry.is_file()) files.emplace_back(entry.path.substr(prefix.size()), entry.size);
    }
    return files;
}

Result<std::vector<std::pair<std::string, std::uint64_t>>> RunFiles::logged() const
{
    std::vector<std::pair<std::string, std::uint64_t>> files;
    TRY(folder_.walk(root_, [&files](const std::string& path, std::uint64_t size) {
        files.emplace_back(path, size);
    }));
    if (made_) {
        for (auto& file : made_->all())
            files.push_back(std::move(file));
    }
    return files;
}

const snapshot::ManifestEntry* RunFiles::find_output(const std::string& inside) const
{
    if (!outputs_ || inside.empty()) return nullptr;
    const auto way = snapshot::follow_links(inside, *outputs_);
    if (way.end != snapshot::LinkWay::End::inside) return nullptr;
    const auto* entry = outputs_->find(way.path);
    return entry && entry->is_file() ? entry : nullptr;
}

OpenFile RunFiles::open_output(const snapshot::ManifestEntry& entry) const
{
    // The digest of all outputs, so that a file of several chunks has a version too.
    OpenFile open{entry.size, ended_, sha256(outputs_id_ + "/" + entry.path).text(), {}};
    open.read = [objects = objects_, manifest = outputs_, path = entry.path](std::uint64_t offset,
                                                                             std::size_t length) {
        return snapshot::read_file(*objects, *manifest, path, offset, length);
    };
    return open;
}

Result<OpenFile> RunFiles::open(const ArtifactPath& path) const
{
    auto own = open_own(path);
    if (own || !made_ || own.error().kind() != ErrorKind::not_found) return own;
    return made_->open(path);
}

// Where that is among the outputs, which may be a file, a folder, or nothing; nullopt when nothing
// was collected that can have this name.
std::optional<std::string> RunFiles::collected_at(const ArtifactPath& path) const
{
    if (!outputs_) return std::nullopt;
    if (path.is_root() || outputs_->find(path.text())) return path.text();
    return among_outputs(path);
}

LiveFiles::Found RunFiles::find_live(const ArtifactPath& path) const
{
    auto found = live_ ? live_->find(path) : LiveFiles::Found();
    const bool second = live_ && found.kind == LiveFiles::Found::Kind::absent;
    return second && among_outputs(path) ? live_->find(path.below(1)) : std::move(found);
}

Result<OpenFile> RunFiles::open_own(const ArtifactPath& path) const
{
    auto found = TRY(folder_.find(root_ / path));
    using Kind = ArtifactFolder::Found::Kind;
    if (found.kind == Kind::absent) found = find_live(path);
    if (found.kind == Kind::file) return open_stored(std::move(found.file));
    const auto inside = found.kind == Kind::absent ? collected_at(path) : std::nullopt;
    const auto* entry = inside ? outputs_->find(*inside) : nullptr;
    if (found.kind == Kind::folder || path.is_root() || (inside && inside->empty()) ||
        (entry && entry->kind == snapshot::EntryKind::folder))
        return fail(ErrorKind::invalid_argument, "'{}' is a folder", printable(path.text()));
    const auto* file = inside ? find_output(*inside) : nullptr;
    if (file) return open_output(*file);
    if (problem_) return tl::unexpected(*problem_);
    return fail(ErrorKind::not_found, "No such artifact: '{}'", printable(path.text()));
}

Result<OpenFile> RunFiles::open_listed(const ArtifactPath& path) const
{
    auto found = TRY(folder_.find(root_ / path));
    if (found.kind == ArtifactFolder::Found::Kind::file) return open_stored(std::move(found.file));
    const auto inside = among_outputs(path);
    const auto* file = inside ? find_output(*inside) : nullptr;
    if (file && found.kind == ArtifactFolder::Found::Kind::absent) return open_output(*file);
    if (made_) return made_->open(path);
    return fail(ErrorKind::not_found, "No such artifact: '{}'", printable(path.text()));
}

std::optional<std::vector<RunFiles::Entry>> RunFiles::list_outputs(const ArtifactPath& path,
                                                                   SecondName second) const
{
    if (live_) {
        auto listed = live_->list(path);
        const bool other = !listed && second == SecondName::counts && among_outputs(path);
        return other ? live_->list(path.below(1)) : listed;
    }
    const auto inside = collected_at(path);
    if (!inside || (second == SecondName::no && *inside != path.text())) return std::nullopt;
    const auto* folder = inside->empty() ? nullptr : outputs_->find(*inside);
    if (!inside->empty() && (!folder || folder->kind != snapshot::EntryKind::folder))
        return std::nullopt;
    std::vector<Entry> entries;
    const auto all = outputs_->below(*inside);
    for (std::size_t i = 0; i < all.size(); ++i) {
        count_work();
        const auto& entry = all[i];
        const auto name =
            std::string_view(entry.path).substr(inside->empty() ? 0 : inside->size() + 1);
        // What is in a folder of it follows the folder: past that at once.
        if (entry.kind == snapshot::EntryKind::folder) i += outputs_->below(entry.path).size();
        if (!ArtifactPath::is_name(name)) continue;
        if (entry.kind == snapshot::EntryKind::folder) {
            entries.push_back({Entry::Kind::folder, std::string(name), 0});
        } else if (const auto* file = find_output(entry.path)) {
            entries.push_back({Entry::Kind::file, std::string(name), file->size});
        }
    }
    // A manifest has "a-b" before the folder "a".
    std::sort(entries.begin(), entries.end(), by_name);
    return entries;
}

Result<std::optional<std::vector<RunFiles::Entry>>> RunFiles::list(const ArtifactPath& path) const
{
    auto own = TRY(list_own(path));
    if (!made_) return own;
    auto theirs = TRY(made_->list(path));
    if (!theirs) return own;
    if (!own) return theirs;
    add_missing(*own, *theirs);
    return own;
}

Result<std::optional<std::vector<RunFiles::Entry>>>
RunFiles::list_own(const ArtifactPath& path) const
{
    using Kind = ArtifactFolder::Found::Kind;
    auto entries = TRY(folder_.list(root_ / path));
    // A file that clients logged hides the folder that was collected under its name.
    const auto kind = TRY(folder_.find(root_ / path)).kind;
    const bool hidden = kind == Kind::file || kind == Kind::blocked;
    const auto collected =
        hidden ? std::nullopt : list_outputs(path, entries ? SecondName::no : SecondName::counts);
    if (!entries && (collected || path.is_root())) entries.emplace();
    if (collected) add_missing(*entries, *collected);
    return entries;
}

}  // namespace ponk::engine
