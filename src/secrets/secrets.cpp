// SPDX-License-Identifier: Apache-2.0
#include "secrets/secrets.hpp"

#include "base/hash.hpp"
#include "base/seal.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "os/directory.hpp"
#include "os/file_lock.hpp"
#include "secrets/keyring.hpp"
#include "secrets/sealed_file.hpp"
#include "secrets/sealing_key.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>

namespace ponk::secrets {

namespace {

constexpr std::string_view suffix = ".secret";
// Linux hands a program no variable of more than 128 KiB.
constexpr std::size_t value_limit = std::size_t{64} << 10;
constexpr std::uint64_t file_limit = std::uint64_t{64} << 20;

using Lock = os::FileLock;

Result<> check_name(const std::string& name)
{
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    const bool good = !name.empty() && name.size() <= 128 && letter(name.front()) &&
                      std::all_of(name.begin(), name.end(), [&](char c) {
                          return letter(c) || c == '.' || c == '-';
                      });
    if (good) return {};
    return tl::unexpected(Error(
        ErrorKind::invalid_argument,
        fmt::format("'{}' cannot be the name of a secret", printable(name)),
        "Use up to 128 letters, digits, '_', '.' and '-', beginning with none of the last two."));
}

Path file_of(const Path& folder, const std::string& name)
{
    return folder / (name + std::string(suffix));
}

Keyring keyring_of(const Path& folder)
{
    return Keyring(sha256(folder.native()).text().substr(0, 16));
}

// Those who only read need none: files appear as a whole.
Result<Lock> lock(const Path& folder)
{
    return Lock::take(folder / ".lock", Lock::Kind::exclusive, after(std::chrono::seconds(30)), {});
}

bool is_there(const Path& path)
{
    std::error_code problem;
    return std::filesystem::exists(path, problem);
}

Result<std::optional<SealedFile>> load(const Path& folder, const std::string& name)
{
    const auto path = file_of(folder, name);
    const auto bytes = TRY(os::read_file_if_any(path, file_limit));
    if (!bytes) return std::optional<SealedFile>();
    auto file = parse_sealed_file(*bytes);
    if (file && file->name != name)
        file = fail(ErrorKind::damaged, "it is the file of secret '{}'", printable(file->name));
    if (!file) {
        return tl::unexpected(
            Error(ErrorKind::damaged,
                  fmt::format("secret '{}' cannot be read: {} is damaged: {}",
                              name,
                              os::in_quotes(path),
                              file.error().message()),
                  fmt::format("Set it again with 'ponk secret set {}'; other secrets are not "
                              "concerned.",
                              name)));
    }
    return std::optional(std::move(*file));
}

// What a sealed value is tied to, so that files cannot be exchanged for each other.
std::string context(const std::string& name, std::int64_t version)
{
    return fmt::format("ponk secret {} {}", name, version);
}

Result<std::string>
reveal(const Path& folder, const Keyring& keyring, const std::string& name, const Version& version)
{
    if (version.where == Place::keyring) {
        auto value = TRY(keyring.find(name, version.key));
        if (value) return std::move(*value);
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("secret '{}' is no longer in the desktop keyring", name),
                  fmt::format("If the keyring is locked, unlock it; else set the secret again with "
                              "'ponk secret set {}', or forget it with 'ponk secret remove --purge "
                              "{}'.",
                              name,
                              name)));
    }
    const auto key = TRY(find_key(folder / ".key"));
    if (!key || key->id != version.key) {
        return tl::unexpected(
            Error(ErrorKind::damaged,
                  fmt::format("secret '{}' was sealed with a key that is not in {}",
                              name,
                              os::in_quotes(folder / ".key")),
                  fmt::format("Put the key file back, or set the secret again with 'ponk secret "
                              "set {}'.",
                              name)));
    }
    return open_sealed(key->bytes, version.sealed, context(name, version.number))
        .map_error(while_doing("secret '{}'", name));
}

Result<Version> make_version(const Path& folder,
                             const std::string& name,
                             std::int64_t number,
                             std::string_view value,
                             Secrets::Keyring use)
{
    Version version{.number = number, .updated = wall_milliseconds()};
    if (use == Secrets::Keyring::when_there && Keyring::is_there()) {
        version.key = to_hex(random_bytes(16));
        version.where = Place::keyring;
        if (keyring_of(folder).store(name, version.key, value)) return version;
        version.where = Place::file;
    }
    const auto key = TRY(find_or_make_key(folder / ".key"));
    version.key = key.id;
    version.sealed = seal(key.bytes, value, context(name, number));
    return version;
}

// A damaged file gives way to a new one and is kept under another name.
Result<SealedFile> load_to_change(const Path& folder, const std::string& name)
{
    auto file = load(folder, name);
    if (file) return file->value_or(SealedFile{name, {}});
    if (file.error().kind() != ErrorKind::damaged) return tl::unexpected(file.error());
    const auto aside = folder / fmt::format("{}.damaged-{}", name, wall_milliseconds());
    std::error_code problem;
    std::filesystem::rename(file_of(folder, name), aside, problem);
    if (problem)
        return fail_errno(problem.value(), "set aside {}", os::in_quotes(file_of(folder, name)));
    return SealedFile{name, {}};
}

Result<std::vector<std::string>> names_in(const Path& folder)
{
    std::vector<std::string> names;
    if (!is_there(folder)) return names;
    for (const auto& entry : TRY(os::list_directory(folder))) {
        if (entry.name.size() > suffix.size() && entry.name.ends_with(suffix))
            names.push_back(entry.name.substr(0, entry.name.size() - suffix.size()));
    }
    return names;
}

Error unknown(const std::string& name, const std::vector<SecretInfo>& known)
{
    std::vector<std::string> names;
    for (const auto& secret : known)
        names.push_back(secret.name);
    const auto meant = nearest(name, names);
    return {ErrorKind::not_found,
            fmt::format("there is no secret '{}'", printable(name)),
            meant ? fmt::format("Did you mean '{}'?", *meant)
                  : fmt::format("Set it with 'ponk secret set {}'.", printable(name))};
}

}  // namespace

const char* to_string(Place place)
{
    return place == Place::keyring ? "keyring" : "file";
}

Secrets::Secrets(const Path& home, Keyring keyring) : folder_(home / "secrets"), keyring_(keyring)
{
}

Result<SecretInfo> Secrets::set(const std::string& name, std::string_view value)
{
    TRY(check_name(name));
    if (value.empty()) return fail(ErrorKind::invalid_argument, "secret '{}' has no value", name);
    if (value.size() > value_limit) {
        return fail(ErrorKind::invalid_argument,
                    "secret '{}' has {}, at most {} can be stored",
                    name,
                    byte_size_text(value.size()),
                    byte_size_text(value_limit));
    }
    TRY(os::make_directories(folder_));
    const auto held = TRY(lock(folder_));
    auto file = TRY(load_to_change(folder_, name));
    const auto number = file.versions.empty() ? 1 : file.versions.back().number + 1;
    auto version = TRY(make_version(folder_, name, number, value, keyring_));
    if (!file.versions.empty()) file.versions.back().retired = true;
    const SecretInfo info{name, version.where, version.updated, {}};
    file.versions.push_back(std::move(version));
    TRY(os::replace_file(file_of(folder_, name), to_text(file)));
    return info;
}

Result<std::vector<SecretInfo>> Secrets::list() const
{
    std::vector<SecretInfo> all;
    for (const auto& name : TRY(names_in(folder_))) {
        const auto file = load(folder_, name);
        if (!file) {
            all.push_back({.name = name, .problem = file.error().message()});
        } else if (const auto* current = *file ? (*file)->current() : nullptr) {
            all.push_back({name, current->where, current->updated, {}});
        }
    }
    return all;
}

Result<std::string> Secrets::get(const std::string& name) const
{
    TRY(check_name(name));
    if (is_there(folder_)) {
        const auto file = TRY(load(folder_, name));
        if (const auto* current = file ? file->current() : nullptr)
            return reveal(folder_, keyring_of(folder_), name, *current);
    }
    return tl::unexpected(unknown(name, TRY(list())));
}

Result<> Secrets::remove(const std::string& name)
{
    TRY(check_name(name));
    if (!is_there(folder_)) return tl::unexpected(unknown(name, {}));
    const auto held = TRY(lock(folder_));
    auto file = TRY(load(folder_, name));
    if (!file || !file->current()) return tl::unexpected(unknown(name, TRY(list())));
    file->versions.back().retired = true;
    return os::replace_file(file_of(folder_, name), to_text(*file));
}

Result<> Secrets::purge(const std::string& name)
{
    TRY(check_name(name));
    if (!is_there(file_of(folder_, name))) return tl::unexpected(unknown(name, TRY(list())));
    const auto held = TRY(lock(folder_));
    const auto file = load(folder_, name);
    const auto keyring = keyring_of(folder_);
    if (file && *file) {
        for (const auto& version : (*file)->versions) {
            if (version.where == Place::keyring) TRY(keyring.remove(name, version.key));
        }
    }
    if (::unlink(file_of(folder_, name).c_str()) != 0 && errno != ENOENT)
        return fail_errno(errno, "remove {}", os::in_quotes(file_of(folder_, name)));
    return os::sync_directory(folder_);
}

Result<std::vector<std::string>>
Secrets::values_for_redaction(const std::vector<std::string>& names) const
{
    std::set<std::string> values;
    const auto keyring = keyring_of(folder_);
    if (names.empty() || !is_there(folder_)) return std::vector<std::string>();
    for (const auto& name : names) {
        TRY(check_name(name));
        const auto file = TRY(load(folder_, name));
        if (!file) continue;
        for (const auto& version : file->versions)
            values.insert(TRY(reveal(folder_, keyring, name, version)));
    }
    return std::vector<std::string>(values.begin(), values.end());
}

}  // namespace ponk::secrets
