// SPDX-License-Identifier: Apache-2.0
#include "secrets/redactor.hpp"

#include "base/hash.hpp"
#include "base/seal.hpp"
#include "base/synced.hpp"
#include "secrets/matcher.hpp"
#include "secrets/secret_pieces.hpp"

#include <algorithm>
#include <map>

namespace ponk::secrets {

namespace {

std::set<std::string> all_pieces(const std::vector<std::string>& values)
{
    std::set<std::string> pieces;
    for (const auto& value : values)
        pieces.merge(pieces_of(value));
    return pieces;
}

}  // namespace

RedactionPatterns::RedactionPatterns(const std::vector<std::string>& values)
    : matcher_(std::make_unique<const Matcher>(all_pieces(values)))
{
}

RedactionPatterns::~RedactionPatterns() = default;

bool RedactionPatterns::empty() const noexcept
{
    return matcher_->empty();
}

struct Redactor::Progress {
    RedactionPatterns::Matcher::Threads threads;
    RedactionPatterns::Matcher::Threads next;  // room for the next step
};

Redactor::Redactor(std::shared_ptr<const RedactionPatterns> patterns)
    : patterns_(std::move(patterns)), progress_(std::make_unique<Progress>())
{
}

Redactor::~Redactor() = default;

std::string_view Redactor::feed(std::string_view bytes)
{
    if (patterns_->empty()) return bytes;
    out_.clear();
    scan(bytes);
    return out_;
}

std::string_view Redactor::finish()
{
    out_.clear();
    release(base_ + held_.size() - head_);
    progress_->threads.clear();
    masking_ = false;
    return out_;
}

Redactor::Rest Redactor::rest() const
{
    if (!progress_->threads.empty() || held_.size() > head_) return Rest::holding;
    return masking_ ? Rest::masked : Rest::plain;
}

void Redactor::scan(std::string_view bytes)
{
    const auto& matcher = *patterns_->matcher_;
    auto& [threads, next] = *progress_;
    while (!bytes.empty()) {
        if (threads.empty()) {
            const auto plain = matcher.find_beginning(bytes);
            give_plain(bytes.substr(0, plain));
            base_ += plain;
            bytes.remove_prefix(plain);
            if (bytes.empty()) return;
        }
        const auto position = base_ + held_.size() - head_;
        held_ += bytes.front();
        const auto match = matcher.step(threads, bytes, position, next);
        bytes.remove_prefix(1);
        threads.swap(next);
        if (match) cover({*match, position + 1});
        release(threads.empty() ? position + 1 : threads.front().start);
    }
}

void Redactor::cover(Stretch stretch)
{
    while (!covered_.empty() && covered_.back().end >= stretch.begin) {
        stretch.begin = std::min(stretch.begin, covered_.back().begin);
        covered_.pop_back();
    }
    covered_.push_back(stretch);
}

void Redactor::give_plain(std::string_view bytes)
{
    if (bytes.empty()) return;
    masking_ = false;
    out_ += bytes;
}

void Redactor::give_mask()
{
    if (masking_) return;
    masking_ = true;
    out_ += mask;
}

void Redactor::release(std::uint64_t end)
{
    while (base_ < end) {
        const bool masked = !covered_.empty() && covered_.front().begin <= base_;
        auto until = end;
        if (!covered_.empty())
            until = std::min(end, masked ? covered_.front().end : covered_.front().begin);
        const auto count = until - base_;
        if (masked) {
            give_mask();
        } else {
            give_plain(std::string_view(held_).substr(head_, count));
        }
        if (masked && until == covered_.front().end) covered_.pop_front();
        head_ += count;
        base_ = until;
    }
    // Moves the rest to the front only when that is little work for each byte.
    if (head_ > held_.size() / 2) {
        held_.erase(0, head_);
        head_ = 0;
    }
}

std::shared_ptr<const RedactionPatterns> shared_patterns(const std::vector<std::string>& values)
{
    static Synced<std::map<Digest, std::weak_ptr<const RedactionPatterns>>> known;
    std::string all;
    for (const auto& value : values)
        all += fmt::format("{}:{}", value.size(), value);
    const auto key = sha256(all);
    wipe(all);
    if (auto found = (*known.lock())[key].lock()) return found;
    auto made = std::make_shared<const RedactionPatterns>(values);
    const auto table = known.lock();
    std::erase_if(*table, [](const auto& entry) { return entry.second.expired(); });
    (*table)[key] = made;
    return made;
}

std::string redact(const std::vector<std::string>& values, std::string_view text)
{
    Redactor redactor(std::make_shared<const RedactionPatterns>(values));
    std::string out(redactor.feed(text));
    out += redactor.finish();
    return out;
}

}  // namespace ponk::secrets
