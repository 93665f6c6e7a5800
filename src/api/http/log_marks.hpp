// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/synced.hpp"
#include "os/file.hpp"
#include "secrets/redactor.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ponk::api {

// Places in logs whose secrets are masked. Readers count masked bytes, so where an offset is in the
// file only reading from the beginning tells: what a reader found on its way is kept here, and the
// next one begins at the last place before its offset. In memory, for the logs read of late. Safe
// for several threads.
class LogMarks {
public:
    // A moment at which the redactor held nothing back.
    struct Mark {
        std::uint64_t file = 0;    // bytes read of the log
        std::uint64_t served = 0;  // bytes given for them
        secrets::Redactor::Rest rest = secrets::Redactor::Rest::plain;
    };
    // A log in one way of masking it: another file or other secrets have other places.
    struct Log {
        RunId run;
        std::uint64_t inode = 0;
        std::shared_ptr<const secrets::RedactionPatterns> patterns;
    };

    // The last mark that is not behind `served`; nothing: the beginning.
    [[nodiscard]] std::optional<Mark> find(const Log& log, std::uint64_t served);
    void note(const Log& log, const Mark& mark);

    // How far apart they are, until a log has very many.
    static constexpr std::uint64_t spacing = std::uint64_t{1} << 20;

private:
    struct Marks {
        std::uint64_t inode = 0;
        // Held, so that no other patterns come to have its address.
        std::shared_ptr<const secrets::RedactionPatterns> patterns;
        std::vector<Mark> marks;  // in order
        std::uint64_t spacing = LogMarks::spacing;
        std::uint64_t used = 0;
    };
    struct State {
        std::map<RunId, Marks> logs;
        std::uint64_t uses = 0;
    };

    Synced<State> state_;
};

}  // namespace ponk::api
