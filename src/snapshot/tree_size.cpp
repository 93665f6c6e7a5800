// SPDX-License-Identifier: Apache-2.0
#include "snapshot/tree_size.hpp"

#include "os/tree.hpp"

#include <algorithm>
#include <dirent.h>

namespace ponk::snapshot {

namespace {

struct Waiting {
    std::string path;
    std::size_t part;  // the entry of the root that it belongs to
};

}  // namespace

Result<TreeSize> measure_tree(int root, const SnapshotOptions& options)
{
    TreeSize size;
    std::vector<TreeSize::Part> parts;
    std::vector<Waiting> waiting{{"", 0}};
    os::NameList list;
    while (!waiting.empty()) {
        const auto next = std::move(waiting.back());
        waiting.pop_back();
        const os::Fd fd(os::open_folder_beneath(root, next.path));
        // The scan reports what cannot be read.
        if (fd.get() < 0 || list.read(fd.get()) != 0) continue;
        const auto* const rules = options.ignore.rules;
        const auto here =
            rules != nullptr ? TRY(rules->folder(next.path)) : config::TravelRules::FolderPtr();
        for (const auto& name : list.names()) {
            if (options.stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
            const auto path = next.path.empty() ? std::string(name.text)
                                                : next.path + "/" + std::string(name.text);
            const bool is_folder = name.type == DT_DIR;
            if (rules != nullptr && TRY(rules->decide(*here, path, is_folder)).fate ==
                                        config::TravelRules::Fate::left_out)
                continue;
            if (options.ignore.ignored && options.ignore.ignored(path, is_folder)) continue;
            auto part = next.part;
            if (next.path.empty() && (is_folder || name.type == DT_REG)) {
                part = parts.size();
                parts.push_back({path + (is_folder ? "/" : ""), 0});
            }
            if (is_folder) waiting.push_back({path, part});
            os::FileStatus status;
            if (name.type != DT_REG || os::status_at(fd.get(), name.text.data(), status) != 0)
                continue;
            ++size.files;
            size.bytes += status.size;
            parts[part].bytes += status.size;
        }
    }
    std::sort(parts.begin(), parts.end(), [](const auto& left, const auto& right) {
        return left.bytes != right.bytes ? left.bytes > right.bytes : left.name < right.name;
    });
    parts.resize(std::min<std::size_t>(parts.size(), 3));
    size.largest = std::move(parts);
    return size;
}

}  // namespace ponk::snapshot
