// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/container_note.hpp"

#include "base/json.hpp"

namespace ponk::executor::docker {

namespace {

using Tree = Container::Tree;
using Stage = ContainerNote::Stage;

}  // namespace

Result<> ContainerNotes::write(const std::string& run, const ContainerNote& note) const
{
    TRY(os::make_directories(folder_));
    const Json text = JsonObject{{"engine", note.socket.native()},
                                 {"copied", note.tree == Tree::copied},
                                 {"started", note.stage == Stage::started}};
    return os::replace_file(folder_ / run, to_json(text) + "\n");
}

Result<std::optional<ContainerNote>> ContainerNotes::find(const std::string& run) const
{
    const auto text = TRY(os::read_file_if_any(folder_ / run, 1 << 16));
    if (!text) return std::nullopt;
    const auto value =
        TRY(parse_json(*text).map_error(while_doing("read {}", os::in_quotes(folder_ / run))));
    return ContainerNote{.socket = value.text("engine"),
                         .tree = value.boolean("copied") ? Tree::copied : Tree::mounted,
                         .stage = value.boolean("started") ? Stage::started : Stage::given};
}

Result<> ContainerNotes::remove(const std::string& run) const
{
    return os::remove_tree(folder_ / run);
}

}  // namespace ponk::executor::docker
