// SPDX-License-Identifier: Apache-2.0
#include "target/remote/box_file.hpp"

#include "base/hash.hpp"
#include "os/directory.hpp"
#include "target/remote/link/box_pool.hpp"
#include "target/remote/wire/message.hpp"

#include <unistd.h>

namespace ponk::target::remote {

namespace {

constexpr const char* box_file = "box";

std::string brief(const std::string& text)
{
    return sha256(text).text().substr(0, 16);
}

Path place_of(const Path& home, const std::string& type, const BoxAddress& box)
{
    return home / "boxes" / type / brief(name_of(box) + "\n" + box.scratch);
}

}  // namespace

Result<> write_box(const Path& directory, const BoxAddress& box)
{
    const auto text = to_json(to_json(box)) + "\n";
    const auto there = TRY(os::read_file_if_any(directory / box_file, 1 << 16));
    if (there == text) return {};
    return os::replace_file(directory / box_file, text);
}

Result<BoxAddress> read_box(const Path& directory)
{
    const auto text = TRY(os::read_file_if_any(directory / box_file, 1 << 16));
    if (!text) {
        return fail(ErrorKind::not_found,
                    "the run in {} was not given to a machine",
                    os::in_quotes(directory));
    }
    const auto doing = while_doing("read {}", os::in_quotes(directory / box_file));
    return parse_box(TRY(parse_json(*text).map_error(doing))).map_error(doing);
}

Result<> remember_box(const Path& home, const std::string& type, const BoxAddress& box)
{
    const auto file = place_of(home, type, box);
    const auto text = to_json(to_json(box)) + "\n";
    if (TRY(os::read_file_if_any(file, 1 << 16)) == text) return {};
    TRY(os::make_directories(file.parent_path()));
    return os::replace_file(file, text, 0600, os::Durable::no);
}

void forget_box(const Path& home, const std::string& type, const BoxAddress& box)
{
    ::unlink(place_of(home, type, box).c_str());
}

std::vector<BoxAddress> known_boxes(const Path& home, const std::string& type)
{
    std::vector<BoxAddress> out;
    const auto folder = home / "boxes" / type;
    const auto entries = os::list_directory(folder);
    if (!entries) return out;
    for (const auto& entry : *entries) {
        const auto text = os::read_file(folder / entry.name, 1 << 16);
        const auto value = text ? parse_json(*text) : Result<Json>(Json());
        if (!value) continue;
        if (auto box = parse_box(*value)) out.push_back(std::move(*box));
    }
    return out;
}

Path last_manifest_file(const Path& home, const BoxAddress& box, const Path& source)
{
    return home / "cache" / "boxes" / brief(name_of(box) + "\n" + box.scratch) /
           brief(source.native());
}

}  // namespace ponk::target::remote
