// SPDX-License-Identifier: Apache-2.0
#include "api/access/endpoints.hpp"

#include "base/json.hpp"

namespace ponk::api {

std::string endpoint_note_text(const EndpointNote& note)
{
    return to_json(JsonObject{{"version", 1}, {"port", note.port}, {"pinned", note.pinned}}) + "\n";
}

Result<EndpointNote> parse_endpoint_note(std::string_view text)
{
    const auto document = TRY(parse_json(text));
    const auto port = document.integer("port", -1);
    if (document.integer("version") != 1 || port < 0 || port > 65535)
        return fail(ErrorKind::damaged, "not a list of endpoints of version 1");
    return EndpointNote{static_cast<std::uint16_t>(port), document.boolean("pinned")};
}

Endpoints::Endpoints(os::Path home) : file_(std::move(home) / "listeners.json")
{
    const auto text = os::read_file(file_, 4096);
    if (!text) return;
    if (const auto note = parse_endpoint_note(*text)) *note_.lock() = *note;
}

template <class Change>
Result<> Endpoints::change(Change how)
{
    const std::lock_guard lock(changing_);
    auto changed = note();
    how(changed);
    if (changed == note()) return {};
    TRY(os::replace_file(file_, endpoint_note_text(changed)));
    *note_.lock() = changed;
    return {};
}

Result<> Endpoints::remember_port(std::uint16_t port)
{
    return change([port](EndpointNote& note) { note.port = port; });
}

Result<> Endpoints::set_pin(Pin pin)
{
    return change([pin](EndpointNote& note) { note.pinned = pin == Pin::yes; });
}

}  // namespace ponk::api
