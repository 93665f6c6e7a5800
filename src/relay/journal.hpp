// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ponk::relay {

// The relay's own metric journals in the folder `journal/` of the run directory
// (docs/design/metric-journal.md), one for each time that it was started. Not shared between
// threads; reading may go on beside appending.
class Journal {
public:
    // Nothing is made until something is written.
    Journal(os::Path folder, std::string run);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // Records with their frames. When it returns they are on the disk; when it fails none of them
    // is in the journal.
    Result<> append(std::string_view records);

    // Up to where the relay's journals were read.
    struct Position {
        std::string name;  // of the last one
        std::uint64_t offset = 0;
    };
    // The payloads behind `position`, oldest first, and moves it on.
    Result<> read_on(Position& position,
                     const std::function<void(std::string_view payload)>& visit) const;
    // The payloads of all of them.
    [[nodiscard]] Result<> read(const std::function<void(std::string_view payload)>& visit) const;

    // A journal ends here and the next one begins: the daemon does not read endless ones.
    static constexpr std::uint64_t longest = std::uint64_t{1} << 30;

private:
    Result<> begin();
    Result<> make_room(std::size_t bytes);

    os::Path folder_;
    std::string run_;
    os::Fd file_;
    std::uint64_t size_ = 0;
    std::uint64_t reserved_ = 0;  // up to here the disk has room
};

}  // namespace ponk::relay
