// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "gpu/lease/lease.hpp"

#include <algorithm>
#include <set>

namespace ponk::gpu {

namespace {

bool begins_with(std::string_view text, std::string_view beginning)
{
    return same_ignoring_case(text.substr(0, beginning.size()), beginning);
}

// A card in MIG mode cannot be used as such: its instances stand for it.
bool has_instances(const Device& device, const std::vector<Device>& all)
{
    return std::any_of(all.begin(), all.end(), [&](const Device& other) {
        return !other.card.empty() && other.card == device.uuid;
    });
}

tl::unexpected<Error> not_there(const std::string& name, const std::vector<Device>& all)
{
    std::vector<std::string> known;
    known.reserve(all.size());
    for (const auto& device : all)
        known.push_back(device.uuid);
    return tl::unexpected(Error(ErrorKind::not_found,
                                "there is no GPU '" + printable(name) + "' on this machine",
                                known.empty()
                                    ? "No GPU was found here; 'ponk gpu list' shows the reason."
                                    : "It has " + printable(join(known, ", ")) +
                                          ". You can also use a number, 'all' or 'none'."));
}

// A UUID, its unique beginning, or a place in the list. Cards in MIG mode are not listed, but have
// their names.
Result<std::string> find_named(const std::string& name, const std::vector<Device>& all)
{
    std::set<std::string> found;
    for (const auto& device : all) {
        for (const auto& uuid : {device.uuid, device.card}) {
            if (uuid.empty()) continue;
            if (same_ignoring_case(uuid, name)) return uuid;
            if (begins_with(uuid, name)) found.insert(uuid);
        }
    }
    if (const auto index = parse_integer(name); index && found.empty()) {
        for (const auto& device : all)
            if (static_cast<std::int64_t>(device.index) == *index) found.insert(device.uuid);
    }
    if (found.empty()) return not_there(name, all);
    if (found.size() == 1) return *found.begin();
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("'{}' matches {} GPUs: '{}', '{}'{}",
                                            printable(name),
                                            found.size(),
                                            *found.begin(),
                                            *std::next(found.begin()),
                                            found.size() > 2 ? "…" : ""),
                                "Use more characters of the UUID."));
}

// The device of that name; the name of a card that is not listed means all its instances.
std::vector<Device> devices_of(const std::string& uuid, const std::vector<Device>& all)
{
    std::vector<Device> devices;
    for (const auto& device : all) {
        if (device.uuid == uuid) return {device};
        if (device.card == uuid) devices.push_back(device);
    }
    return devices;
}

Result<std::vector<Device>> find_all_named(const std::vector<std::string>& names,
                                           const std::vector<Device>& all)
{
    std::vector<Device> devices;
    for (const auto& name : names) {
        for (auto& device : devices_of(TRY(find_named(name, all)), all)) {
            for (const auto& other : devices) {
                if (other.uuid == device.uuid)
                    return tl::unexpected(
                        Error(ErrorKind::invalid_argument,
                              fmt::format("GPU '{}' is requested twice", device.uuid),
                              "Request each GPU once; 'ponk gpu list' lists all GPUs."));
                if (other.card == device.uuid || device.card == other.uuid)
                    return fail(ErrorKind::invalid_argument,
                                "GPU '{}' is requested together with a part of it, '{}'",
                                other.card == device.uuid ? device.uuid : other.uuid,
                                other.card == device.uuid ? other.uuid : device.uuid);
            }
            devices.push_back(std::move(device));
        }
    }
    return devices;
}

}  // namespace

Result<std::vector<Device>> LeaseFolder::candidates(const Selection& selection,
                                                    const std::vector<Device>& all)
{
    if (selection.kind == Selection::Kind::none) return std::vector<Device>();
    if (selection.kind == Selection::Kind::named) return find_all_named(selection.uuids, all);
    std::vector<Device> usable;
    std::copy_if(all.begin(), all.end(), std::back_inserter(usable), [&](const Device& device) {
        return !has_instances(device, all);
    });
    if (selection.kind == Selection::Kind::all && usable.empty())
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "all GPUs of this machine are requested, but it has none",
                                    "'ponk gpu list' shows why none was found."));
    if (selection.kind == Selection::Kind::count && selection.count > usable.size())
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format(
                "{} GPUs are requested, but this machine has {}", selection.count, usable.size()),
            fmt::format("Request at most {}, or choose another target.",
                        usable.empty() ? "none" : std::to_string(usable.size()))));
    return usable;
}

}  // namespace ponk::gpu
