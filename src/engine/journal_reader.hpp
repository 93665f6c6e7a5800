// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/time.hpp"
#include "engine/context.hpp"
#include "engine/run_secrets.hpp"
#include "target/journals.hpp"

#include <cstdint>
#include <string>

namespace ponk::engine {

// Brings what a run's metric journals say into history, from where history stands; the run's
// secrets are hidden. Memory for one piece of a journal, however much was logged. One thread.
class JournalReader {
public:
    JournalReader(const Context& context, RunId run);

    enum class Progress { done, more };
    // A bounded part of what is there: others want to be served too.
    Progress read_some(const RunSecrets& secrets);

    // The journals together have this length now.
    void note_length(std::uint64_t length);
    // Whether it is time to read: often enough to look live, seldom enough to make batches.
    [[nodiscard]] bool is_due() const;
    // It cannot be read now: not due for a minute, however much is new.
    void put_off();
    // When it will be; far away while nothing is new.
    [[nodiscard]] Deadline due() const;

private:
    Progress read_journal(const target::Journals& journals,
                          const std::string& name,
                          const RunSecrets& secrets,
                          int& pieces);

    const Context& context_;
    RunId run_;
    Path directory_;
    std::uint64_t length_ = 0;
    bool unread_ = false;
    Deadline next_{};
};

}  // namespace ponk::engine
