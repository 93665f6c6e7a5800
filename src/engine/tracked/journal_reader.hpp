// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/id.hpp"
#include "base/keyed_hash.hpp"
#include "base/time.hpp"
#include "engine/context/context.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "executor/executor.hpp"
#include "executor/run_directory/journals.hpp"
#include "model/metric_journal.hpp"

#include <cstdint>
#include <string>

namespace ponk::engine {

// Brings what a run's metric journals say into history, from where history is; the run's
// secrets are hidden. Memory for one piece of a journal, however much was logged, and for the names
// of the journals. A journal is opened when it has grown, so that a great many of them cost a look
// into their folder and no more. One thread.
class JournalReader {
public:
    JournalReader(const Context& context, RunId run);

    enum class Progress { done, more };
    // A bounded part of what is there, the next part with the next call: others want to be served
    // too.
    Progress read_some(const RunSecrets& secrets);
    // Looks into the folder again: for the last time, say.
    void begin_again();
    // Why something of what is there could not be stored since; it is tried again.
    [[nodiscard]] const std::optional<Error>& problem() const noexcept { return problem_; }
    // How many of the journals `read_some` has not come to the end of.
    [[nodiscard]] std::size_t left() const noexcept { return found_.files.size() - at_; }
    // Calls of the script that wait for an answer, each told once, when all that was written before
    // them is in history. Those that were taken back meanwhile are not among them.
    [[nodiscard]] std::vector<Json> take_forwarded();
    // What people shall know of all that was read, in few words.
    [[nodiscard]] executor::Notices findings() const;

    // The journals together have this length now.
    void note_length(std::uint64_t length);
    // Whether it is time to read: often enough to look live, seldom enough to make batches.
    [[nodiscard]] bool is_due() const;
    // It cannot be read now: not due for a minute, however much is new.
    void put_off();
    // When it will be; far away while nothing is new.
    [[nodiscard]] Deadline due() const;

private:
    struct Place {
        std::uint64_t offset = 0;  // as history has it
        std::uint64_t size = 0;    // of the journal when nothing was left to read
    };
    struct Damage {
        std::uint64_t bytes = 0;
        std::size_t journals = 0;
        std::string first;  // the journal
        std::string last;
    };
    Progress read_journal(const executor::Journals& journals,
                          const executor::Journals::File& journal,
                          const RunSecrets& secrets,
                          int& budget);
    Result<> store(const std::string& name, Place& place, model::JournalPiece piece);
    void tidy(model::JournalPiece& piece);
    void note_forwarded(const std::vector<Json>& records);
    [[nodiscard]] executor::Notices lost_values() const;
    void note_damage(const std::string& name, std::uint64_t bytes);

    const Context& context_;
    RunId run_;
    executor::RunDirectory directory_;
    std::uint64_t length_ = 0;
    bool unread_ = false;
    bool grown_ = false;  // since we looked into the folder
    Deadline next_{};
    executor::Journals::Found found_;
    std::size_t at_ = 0;  // of its files
    std::optional<Error> problem_;
    KeyedMap<Place> places_;
    Damage damage_;
    bool cut_names_ = false;
    bool cut_values_ = false;
    bool too_many_tags_ = false;
    std::vector<Json> forwarded_;
};

}  // namespace ponk::engine
