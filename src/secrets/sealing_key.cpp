// SPDX-License-Identifier: Apache-2.0
#include "secrets/sealing_key.hpp"

#include "base/hash.hpp"
#include "base/seal.hpp"
#include "base/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace ponk::secrets {

namespace {

Result<> check_private(const os::Path& file)
{
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return {};
    if ((info.st_mode & 077) == 0 && info.st_uid == ::geteuid()) return {};
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("{} opens your secrets and others can read it", os::in_quotes(file)),
              fmt::format("If nobody did, run: chown {} {} && chmod 600 {}. Otherwise change the "
                          "secrets where they are used, and remove them here with --purge.",
                          ::geteuid(),
                          shell_word(file.native()),
                          shell_word(file.native()))));
}

}  // namespace

Result<std::optional<SealingKey>> find_key(const os::Path& file)
{
    const auto text = TRY(os::read_file_if_any(file, 4096));
    if (!text) return std::optional<SealingKey>();
    TRY(check_private(file));
    const auto bytes = from_hex(trim(*text));
    if (!bytes || bytes->size() != seal_key_size) {
        return tl::unexpected(
            Error(ErrorKind::damaged,
                  fmt::format("{} is not a key (64 hex digits)", os::in_quotes(file)),
                  "Restore it from a backup, or move it away and set the secrets again."));
    }
    return std::optional(SealingKey{*bytes, sha256("ponk key id" + *bytes).text().substr(0, 16)});
}

Result<SealingKey> find_or_make_key(const os::Path& file)
{
    if (auto known = TRY(find_key(file))) return *known;
    TRY(os::publish_file(file, to_hex(random_bytes(seal_key_size)) + "\n", 0600));
    auto made = TRY(find_key(file));
    if (!made) return fail(ErrorKind::internal, "{} is missing", os::in_quotes(file));
    return *made;
}

}  // namespace ponk::secrets
