// SPDX-License-Identifier: Apache-2.0
#include "engine/files/zip_file.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <ctime>
#include <minizip/zip.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace ponk::engine {

Result<ZipFile> ZipFile::create(const os::Path& path)
{
    auto temporary = path;
    temporary += ".tmp-" + to_hex(random_bytes(6));
    auto* handle = ::zipOpen64(temporary.c_str(), APPEND_STATUS_CREATE);
    if (!handle) return fail_errno(errno != 0 ? errno : EIO, "write {}", os::in_quotes(path));
    return ZipFile(path, temporary, handle);
}

ZipFile::ZipFile(ZipFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      handle_(std::exchange(other.handle_, nullptr))
{
}

ZipFile::~ZipFile()
{
    if (!handle_) return;
    ::zipClose(handle_, nullptr);
    ::unlink(temporary_.c_str());
}

Result<> ZipFile::begin(const std::string& name)
{
    constexpr uLong utf8_names = 1U << 11U;
    zip_fileinfo info{};
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::localtime_r(&now, &parts);
    info.tmz_date.tm_sec = static_cast<uInt>(parts.tm_sec);
    info.tmz_date.tm_min = static_cast<uInt>(parts.tm_min);
    info.tmz_date.tm_hour = static_cast<uInt>(parts.tm_hour);
    info.tmz_date.tm_mday = static_cast<uInt>(parts.tm_mday);
    info.tmz_date.tm_mon = static_cast<uInt>(parts.tm_mon);
    info.tmz_date.tm_year = static_cast<uInt>(parts.tm_year + 1900);
    info.external_fa = 0600U << 16U;
    const int done = ::zipOpenNewFileInZip4_64(handle_,
                                               name.c_str(),
                                               &info,
                                               nullptr,
                                               0,
                                               nullptr,
                                               0,
                                               nullptr,
                                               Z_DEFLATED,
                                               Z_DEFAULT_COMPRESSION,
                                               0,
                                               -MAX_WBITS,
                                               DEF_MEM_LEVEL,
                                               Z_DEFAULT_STRATEGY,
                                               nullptr,
                                               0,
                                               3U << 8U,
                                               is_utf8(name) ? utf8_names : 0,
                                               1);
    if (done != ZIP_OK)
        return fail(ErrorKind::unavailable, "write {}: no space left", os::in_quotes(path_));
    return {};
}

Result<> ZipFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto piece = bytes.substr(0, std::size_t{1} << 20);
        if (::zipWriteInFileInZip(handle_, piece.data(), static_cast<unsigned>(piece.size())) !=
            ZIP_OK)
            return fail_errno(errno != 0 ? errno : EIO, "write {}", os::in_quotes(path_));
        bytes.remove_prefix(piece.size());
    }
    return {};
}

Result<> ZipFile::end()
{
    if (::zipCloseFileInZip(handle_) != ZIP_OK)
        return fail_errno(errno != 0 ? errno : EIO, "write {}", os::in_quotes(path_));
    return {};
}

Result<> ZipFile::add(const std::string& name, std::string_view bytes)
{
    TRY(begin(name));
    TRY(write(bytes));
    return end();
}

Result<> ZipFile::finish()
{
    const int closed = ::zipClose(std::exchange(handle_, nullptr), nullptr);
    int problem = closed == ZIP_OK ? 0 : EIO;
    if (problem == 0 && ::link(temporary_.c_str(), path_.c_str()) != 0) problem = errno;
    ::unlink(temporary_.c_str());
    if (problem == EEXIST) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    os::in_quotes(path_) + " exists already",
                                    "Remove it, or choose another file."));
    }
    if (problem != 0) return fail_errno(problem, "write {}", os::in_quotes(path_));
    return {};
}

}  // namespace ponk::engine
