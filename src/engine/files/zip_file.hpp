// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>

namespace ponk::engine {

// Writes a zip archive that appears under its name only when complete. One thread at a time.
class ZipFile {
public:
    static Result<ZipFile> create(const os::Path& path);
    ~ZipFile();
    ZipFile(ZipFile&& other) noexcept;
    ZipFile& operator=(ZipFile&&) = delete;

    Result<> begin(const std::string& name);
    Result<> write(std::string_view bytes);
    Result<> end();
    Result<> add(const std::string& name, std::string_view bytes);
    // Gives the archive its name; `conflict` when something has it.
    Result<> finish();

private:
    ZipFile(os::Path path, os::Path temporary, void* handle)
        : path_(std::move(path)), temporary_(std::move(temporary)), handle_(handle)
    {
    }
    os::Path path_;
    os::Path temporary_;
    void* handle_;
};

}  // namespace ponk::engine
