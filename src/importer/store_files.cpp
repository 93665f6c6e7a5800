// SPDX-License-Identifier: Apache-2.0
#include "importer/store_files.hpp"

#include "base/text.hpp"
#include "os/tree.hpp"

#include <dirent.h>
#include <fcntl.h>

namespace ponk::importer {

namespace {

constexpr std::size_t most_levels = 32;
constexpr std::uint64_t largest_value = std::uint64_t{1} << 20;
constexpr std::uint64_t largest_meta = std::uint64_t{32} << 20;  // datasets have profiles

}  // namespace

Result<StoreFiles> StoreFiles::open(const os::Path& root)
{
    StoreFiles files;
    files.root_ = root;
    files.fd_ = TRY(os::open_file(root, O_RDONLY | O_DIRECTORY));
    return files;
}

std::string StoreFiles::shown(const std::string& path) const
{
    return printable((root_ / path).native());
}

bool StoreFiles::has(const std::string& path) const
{
    return os::open_beneath(fd_.get(), path, O_RDONLY | O_NONBLOCK).has_value();
}

Result<os::Fd> StoreFiles::open_folder(const std::string& path) const
{
    return os::open_beneath(
        fd_.get(), path.empty() ? os::Path(".") : os::Path(path), O_RDONLY | O_DIRECTORY);
}

Result<std::vector<std::string>> StoreFiles::folders(const std::string& path) const
{
    std::vector<std::string> names;
    const auto folder = open_folder(path);
    if (!folder && folder.error().kind() == ErrorKind::not_found) return names;
    if (!folder) return tl::unexpected(folder.error());
    for (const auto& entry : TRY(os::list_directory(folder->get()))) {
        if (entry.type == DT_DIR) names.push_back(entry.name);
    }
    return names;
}

Result<std::string> StoreFiles::read(const std::string& path, std::uint64_t limit) const
{
    const auto fd = TRY(os::open_beneath(fd_.get(), path, O_RDONLY | O_NONBLOCK)
                            .map_error(while_doing("{}", shown(path))));
    os::FileStatus status;
    if (os::status_of(fd.get(), status) != 0 || !status.is_file())
        return fail(ErrorKind::invalid_argument, "{}: it is not a regular file", shown(path));
    std::string all;
    for (;;) {
        const auto more = TRY(os::read_at(fd.get(), all.size(), std::size_t{1} << 20));
        if (more.empty()) return all;
        all += more;
        if (all.size() > limit)
            return fail(ErrorKind::invalid_argument,
                        "{}: it has more than {}",
                        shown(path),
                        byte_size_text(limit));
    }
}

Result<> StoreFiles::walk_level(const std::string& path,
                                const std::string& name,
                                std::size_t depth,
                                const OnFile& on_file) const
{
    if (depth > most_levels)
        return fail(ErrorKind::invalid_argument, "{}: it is nested too deeply", shown(path));
    const auto folder = open_folder(path);
    if (!folder && folder.error().kind() == ErrorKind::not_found) return {};
    if (!folder) return tl::unexpected(folder.error().within(shown(path)));
    for (const auto& entry : TRY(os::list_directory(folder->get()))) {
        const auto inside = path + "/" + entry.name;
        const auto key = name.empty() ? entry.name : name + "/" + entry.name;
        if (entry.type == DT_DIR) {
            TRY(walk_level(inside, key, depth + 1, on_file));
        } else if (entry.type == DT_REG) {
            TRY(on_file(key, inside));
        } else {
            return fail(ErrorKind::invalid_argument,
                        "{}: it is {}",
                        shown(inside),
                        entry.type == DT_LNK ? "a link, which is not followed"
                                             : "not a regular file");
        }
    }
    return {};
}

Result<> StoreFiles::walk(const std::string& path, const OnFile& on_file) const
{
    return walk_level(path, {}, 0, on_file);
}

Result<store::Pairs> StoreFiles::pairs(const std::string& path) const
{
    store::Pairs pairs;
    TRY(walk(path, [&](const std::string& name, const std::string& file) -> Result<> {
        pairs.emplace_back(name, TRY(read(file, largest_value)));
        return {};
    }));
    return pairs;
}

Result<MetaFile> MetaFile::read(const StoreFiles& files, const std::string& path)
{
    const auto text = TRY(files.read(path, largest_meta));
    MetaFile meta;
    meta.shown_ = files.shown(path);
    config::Report report(meta.shown_);
    auto root = config::read_document(text, report, {.bytes = largest_meta});
    if (!root) {
        const auto& found = report.diagnostics();
        if (found.empty()) return fail(ErrorKind::invalid_argument, "{}: not YAML", meta.shown_);
        return fail(ErrorKind::invalid_argument,
                    "{}:{}:{}: {}",
                    meta.shown_,
                    found.front().line,
                    found.front().column,
                    found.front().message);
    }
    if (!root->is_map())
        return fail(ErrorKind::invalid_argument, "{}:1:1: it is not a map of keys", meta.shown_);
    meta.root_ = std::move(*root);
    return meta;
}

tl::unexpected<Error>
MetaFile::wrong(const config::Place& place, std::string_view key, std::string_view wanted) const
{
    return fail(ErrorKind::invalid_argument,
                "{}:{}:{}: '{}' is not {}",
                shown_,
                place.line,
                place.column,
                key,
                wanted);
}

Result<std::optional<std::string>> MetaFile::find_text(std::string_view key) const
{
    const auto* node = root_.find(key);
    if (node == nullptr || node->is_null()) return std::optional<std::string>();
    if (!node->is_scalar()) return wrong(node->place, key, "text");
    return std::optional(node->text);
}

Result<std::string> MetaFile::text(std::string_view key) const
{
    return TRY(find_text(key)).value_or("");
}

Result<std::int64_t> MetaFile::integer(std::string_view key) const
{
    const auto text = TRY(find_text(key));
    if (!text) return 0;
    const auto number = parse_integer(*text);
    if (!number) return wrong(root_.find(key)->place, key, "a whole number");
    return *number;
}

Result<store::Pairs> MetaFile::pairs(std::string_view key) const
{
    store::Pairs pairs;
    const auto* node = root_.find(key);
    if (node == nullptr || !node->is_map()) return pairs;
    for (const auto& member : node->members) {
        if (!member.value.is_scalar()) return wrong(member.value.place, member.key, "text");
        pairs.emplace_back(member.key, member.value.text);
    }
    return pairs;
}

}  // namespace ponk::importer
