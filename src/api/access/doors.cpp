// SPDX-License-Identifier: Apache-2.0
#include "api/access/doors.hpp"

#include "base/json.hpp"

namespace ponk::api {

std::string door_text(const DoorNote& note)
{
    return to_json(JsonObject{{"version", 1}, {"port", note.port}, {"pinned", note.pinned}}) + "\n";
}

Result<DoorNote> parse_door(std::string_view text)
{
    const auto document = TRY(parse_json(text));
    const auto port = document.integer("port", -1);
    if (document.integer("version") != 1 || port < 0 || port > 65535)
        return fail(ErrorKind::damaged, "no note about doors of version 1");
    return DoorNote{static_cast<std::uint16_t>(port), document.boolean("pinned")};
}

Doors::Doors(os::Path home) : file_(std::move(home) / "doors.json")
{
    const auto text = os::read_file(file_, 4096);
    if (!text) return;
    if (const auto note = parse_door(*text)) *note_.lock() = *note;
}

template <class Change>
Result<> Doors::change(Change how)
{
    const std::lock_guard lock(changing_);
    auto changed = note();
    how(changed);
    if (changed == note()) return {};
    TRY(os::replace_file(file_, door_text(changed)));
    *note_.lock() = changed;
    return {};
}

Result<> Doors::remember_port(std::uint16_t port)
{
    return change([port](DoorNote& note) { note.port = port; });
}

Result<> Doors::set_pin(Pin pin)
{
    return change([pin](DoorNote& note) { note.pinned = pin == Pin::yes; });
}

}  // namespace ponk::api
