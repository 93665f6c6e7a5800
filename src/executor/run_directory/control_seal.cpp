// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/control_seal.hpp"

#include "base/hash.hpp"
#include "base/seal.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

constexpr std::size_t key_digits = 64;
constexpr std::size_t size_limit = std::size_t{1} << 20;
constexpr std::string_view last_line = "end\n";

// The supervisor computes the same, with its own means.
std::string seal_of(const std::string& key, const std::string& name, std::string_view text)
{
    const auto inner = sha256(fmt::format("{}:{}\n{}", key, name, text)).text();
    return sha256(key + ":" + inner).text();
}

// nullopt when there is no such file, or none that we can read, as we can all of ours.
Result<std::optional<std::string>> read_own(const Path& path)
{
    const auto file = os::open_regular(path, os::Links::refuse);
    if (!file) {
        struct stat info {};
        const bool closed = ::lstat(path.c_str(), &info) == 0 && (info.st_mode & S_IRUSR) == 0;
        if (closed || file.error().kind() == ErrorKind::not_found) return std::nullopt;
        return tl::unexpected(file.error());
    }
    struct stat info {};
    if (::fstat(file->get(), &info) != 0) return fail_errno(errno, "check {}", os::in_quotes(path));
    if (static_cast<std::uint64_t>(info.st_size) > size_limit) return std::nullopt;
    return TRY(os::read_at(file->get(), 0, static_cast<std::size_t>(info.st_size)));
}

bool is_key(std::string_view text)
{
    const auto bytes = from_hex(text);
    return bytes && text.size() == key_digits;
}

}  // namespace

Result<RunKeys> RunKeys::load(const Path& file)
{
    auto text = TRY(os::read_file_if_any(file, 4096));
    if (!text) {
        TRY(os::make_directories(file.parent_path()));
        TRY(os::publish_file(file, to_hex(random_bytes(key_digits / 2)) + "\n", 0600));
        text = TRY(os::read_file(file, 4096));
    }
    if (!is_key(trim(*text))) {
        return tl::unexpected(Error(
            ErrorKind::damaged,
            fmt::format("{} is not a key (64 hex digits)", os::in_quotes(file)),
            "Restore it from a backup, or remove it: runs that have not ended are then lost."));
    }
    return RunKeys(std::string(trim(*text)));
}

std::string RunKeys::of(std::string_view run) const
{
    return seal_of(home_, "run", run);
}

Result<std::optional<std::string>> SealedFiles::find(const std::string& name) const
{
    auto text = read_own(directory_ / name);
    if (!text && text.error().kind() != ErrorKind::invalid_argument) return text;
    if (!text || !*text) return std::nullopt;
    const auto ends = std::string_view("seal \n").size() + key_digits + last_line.size();
    const std::string_view all = **text;
    if (all.size() < ends) return std::nullopt;
    const auto rest = all.substr(0, all.size() - ends);
    const auto expected = fmt::format("seal {}\n{}", seal_of(key_, name, rest), last_line);
    if (all.substr(rest.size()) != expected) return std::nullopt;
    return fmt::format("{}{}", rest, last_line);
}

bool SealedFiles::is_taken(const std::string& name) const
{
    struct stat info {};
    return ::lstat((directory_ / name).c_str(), &info) == 0;
}

std::string SealedFiles::sealed(const std::string& name, std::string_view text) const
{
    if (text.ends_with(last_line)) text.remove_suffix(last_line.size());
    return fmt::format("{}seal {}\n{}", text, seal_of(key_, name, text), last_line);
}

Result<> SealedFiles::publish(const std::string& name, std::string_view text) const
{
    const auto path = directory_ / name;
    for (int attempt = 0;; ++attempt) {
        const auto done = os::publish_file(path, sealed(name, text));
        if (done || done.error().kind() != ErrorKind::conflict || attempt == 10) return done;
        if (TRY(find(name))) return {};
        const auto aside = directory_ / (".not-ours." + to_hex(random_bytes(8)));
        if (::rename(path.c_str(), aside.c_str()) != 0 && errno != ENOENT)
            return fail_errno(errno, "set aside {}", os::in_quotes(path));
    }
}

}  // namespace ponk::executor
