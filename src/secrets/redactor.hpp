// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::secrets {

// Shorter values are not looked for: hiding every "1" would ruin a log and reveal the value.
constexpr std::size_t shortest_redacted = 4;

// What to look for: each value and its parts, as they are or escaped in the usual ways, in base64
// and in hex; docs/design/secrets.md says which. Immutable; shared by all who read logs of one run.
class RedactionPatterns {
public:
    class Matcher;

    explicit RedactionPatterns(const std::vector<std::string>& values);
    ~RedactionPatterns();
    RedactionPatterns(const RedactionPatterns&) = delete;
    RedactionPatterns& operator=(const RedactionPatterns&) = delete;

    // True when there is nothing to look for.
    [[nodiscard]] bool empty() const noexcept;

private:
    friend class Redactor;
    std::unique_ptr<const Matcher> matcher_;
};

// Replaces secrets in a stream that comes in pieces: every longest stretch of bytes that belong to
// a form of a value becomes "***". The output depends on the bytes only, never on how they were
// cut. Holds back only what may still become such a form. One thread at a time.
class Redactor {
public:
    static constexpr std::string_view mask = "***";

    explicit Redactor(std::shared_ptr<const RedactionPatterns> patterns);
    ~Redactor();
    Redactor(const Redactor&) = delete;
    Redactor& operator=(const Redactor&) = delete;

    // What can be shown now. The view is into `bytes` or into this object, and is good until the
    // next call. Without patterns it is `bytes` itself.
    std::string_view feed(std::string_view bytes);
    // The rest, at the end of the stream.
    std::string_view finish();

    // What the bytes so far mean for those to come. Where nothing is held back it is only whether
    // the last thing given out was a mask: a redactor that resumes there gives the same for the
    // rest as this one.
    enum class Rest { plain, masked, holding };
    [[nodiscard]] Rest rest() const;
    // Before the first byte; from a moment that was not `holding`.
    void resume(Rest rest) { masking_ = rest == Rest::masked; }

private:
    // Positions count from the first byte that was fed.
    struct Stretch {
        std::uint64_t begin;
        std::uint64_t end;
    };

    void scan(std::string_view bytes);
    void cover(Stretch stretch);
    void give_plain(std::string_view bytes);
    void give_mask();
    // Gives out what is held up to this position.
    void release(std::uint64_t end);

    std::shared_ptr<const RedactionPatterns> patterns_;
    struct Progress;
    std::unique_ptr<Progress> progress_;  // what has matched so far
    std::string held_;                    // bytes from head_ on are not given out yet
    std::size_t head_ = 0;
    std::uint64_t base_ = 0;       // position of the first of them
    std::deque<Stretch> covered_;  // by forms; in order, apart from each other
    bool masking_ = false;         // the last thing given out was a mask
    std::string out_;
};

// The same object for the same values while anybody has it, however many read.
std::shared_ptr<const RedactionPatterns> shared_patterns(const std::vector<std::string>& values);

// Both in one, for a text that is there as a whole.
std::string redact(const std::vector<std::string>& values, std::string_view text);

}  // namespace ponk::secrets
