// SPDX-License-Identifier: Apache-2.0
#include "secrets/sealed_file.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace ponk::secrets {

namespace {

// The first line: what this is, and the SHA-256 of all that follows.
constexpr std::string_view heading = "ponk-secret 1 ";
constexpr std::size_t heading_size = heading.size() + 64 + 1;

Result<Version> parse_version(const Json& json)
{
    Version version;
    version.number = json.integer("version");
    version.updated = json.integer("updated");
    version.retired = json.boolean("retired");
    version.key = json.text("key");
    const auto where = json.text("where");
    const auto sealed = from_hex(json.text("sealed"));
    if (version.number < 1 || !sealed || (where != "file" && where != "keyring"))
        return fail(ErrorKind::damaged, "a version of it is not complete");
    version.where = where == "file" ? Place::file : Place::keyring;
    version.sealed = *sealed;
    return version;
}

}  // namespace

const Version* SealedFile::current() const
{
    return versions.empty() || versions.back().retired ? nullptr : &versions.back();
}

Result<SealedFile> parse_sealed_file(std::string_view bytes)
{
    Digest expected;
    if (bytes.size() < heading_size || !bytes.starts_with(heading) ||
        bytes[heading_size - 1] != '\n' ||
        !parse_digest(bytes.substr(heading.size(), 64), expected))
        return fail(ErrorKind::damaged, "its first line is not that of a secret");
    const auto body = bytes.substr(heading_size);
    if (sha256(body) != expected) return fail(ErrorKind::damaged, "its checksum does not fit");
    const auto json = parse_json(body);
    if (!json) return tl::unexpected(Error(ErrorKind::damaged, json.error().message()));
    SealedFile file;
    file.name = json->text("name");
    const auto& versions = (*json)["versions"];
    if (file.name.empty() || !versions.is_array())
        return fail(ErrorKind::damaged, "it has no name or no versions");
    for (const auto& version : versions.as_array())
        file.versions.push_back(TRY(parse_version(version)));
    for (std::size_t i = 1; i < file.versions.size(); ++i) {
        if (!file.versions[i - 1].retired || file.versions[i - 1].number >= file.versions[i].number)
            return fail(ErrorKind::damaged, "its versions are not in order");
    }
    return file;
}

std::string to_text(const SealedFile& file)
{
    JsonArray versions;
    for (const auto& version : file.versions) {
        versions.emplace_back(JsonObject{{"version", version.number},
                                         {"where", to_string(version.where)},
                                         {"retired", version.retired},
                                         {"updated", version.updated},
                                         {"key", version.key},
                                         {"sealed", to_hex(version.sealed)}});
    }
    const auto body =
        to_json(JsonObject{{"name", file.name}, {"versions", std::move(versions)}}) + "\n";
    return std::string(heading) + sha256(body).text() + "\n" + body;
}

}  // namespace ponk::secrets
