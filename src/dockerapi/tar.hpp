// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

// Tar streams, as the engine takes and gives them: POSIX pax, any name and any size.
namespace ponk::dockerapi {

struct TarEntry {
    enum class Kind { file, folder, link, other };  // other: hard links, devices, FIFOs
    Kind kind = Kind::file;
    std::string path;  // bytes, relative
    std::string link;  // what a symbolic (or hard) link names
    mode_t mode = 0644;
    std::uint64_t size = 0;  // of a file
    uid_t user = 0;
    gid_t group = 0;
    std::int64_t modified = 0;  // seconds since 1970
};

// The header; for a file exactly `size` bytes must follow, then tar_padding(size).
std::string tar_header(const TarEntry& entry);
std::string tar_padding(std::uint64_t size);
std::string tar_end();
// A whole small file.
std::string tar_file(const std::string& path, std::string_view bytes, mode_t mode = 0644);

// Reads a stream that comes in pieces. Understands pax and GNU long names and sizes.
class TarReader {
public:
    // `begin` opens an entry, `data` brings a file's bytes. Either may fail, which ends the
    // reading.
    struct Handler {
        std::function<Result<>(const TarEntry& entry)> begin;
        std::function<Result<>(std::string_view bytes)> data;
    };
    explicit TarReader(Handler handler) : handler_(std::move(handler)) {}

    Result<> take(std::string_view bytes);
    // `damaged` when the stream ended in the middle.
    [[nodiscard]] Result<> finish() const;

private:
    Result<> read_header();
    Result<> end_of_data();

    Handler handler_;
    std::string block_;       // the header being gathered
    std::uint64_t data_ = 0;  // bytes of data still to come
    std::uint64_t skip_ = 0;  // padding after it
    enum class Data { file, pax, long_name, long_link, skipped } kind_ = Data::skipped;
    std::string extra_;  // pax records or a long name being gathered
    std::vector<std::pair<std::string, std::string>> pax_;  // for the next entry
    bool ended_ = false;
};

}  // namespace ponk::dockerapi
