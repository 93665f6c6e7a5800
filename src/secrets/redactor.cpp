// SPDX-License-Identifier: Apache-2.0
#include "secrets/redactor.hpp"

#include "secrets/automaton.hpp"
#include "secrets/redaction_forms.hpp"

#include <algorithm>

namespace ponk::secrets {

namespace {

std::set<std::string> all_forms(const std::vector<std::string>& values)
{
    std::set<std::string> forms;
    for (const auto& value : values)
        forms.merge(redaction_forms(value));
    return forms;
}

}  // namespace

RedactionPatterns::RedactionPatterns(const std::vector<std::string>& values)
    : automaton_(std::make_unique<const Automaton>(all_forms(values)))
{
}

RedactionPatterns::~RedactionPatterns() = default;

bool RedactionPatterns::empty() const noexcept
{
    return automaton_->empty();
}

std::size_t RedactionPatterns::lead() const noexcept
{
    return empty() ? 0 : automaton_->longest() - 1;
}

Redactor::Redactor(std::shared_ptr<const RedactionPatterns> patterns, std::uint64_t lead)
    : patterns_(std::move(patterns)), lead_(lead)
{
}

std::string_view Redactor::feed(std::string_view bytes)
{
    if (patterns_->empty()) {
        const auto skipped = std::min<std::uint64_t>(lead_, bytes.size());
        lead_ -= skipped;
        return bytes.substr(skipped);
    }
    out_.clear();
    scan(bytes);
    return out_;
}

std::string_view Redactor::finish()
{
    out_.clear();
    release(base_ + held_.size() - head_);
    node_ = 0;
    masking_ = false;
    return out_;
}

void Redactor::scan(std::string_view bytes)
{
    const auto& automaton = *patterns_->automaton_;
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (node_ == 0) {
            const auto begin = at;
            while (at + 1 < bytes.size() && !automaton.may_begin(bytes[at], bytes[at + 1]))
                ++at;
            give_plain(bytes.substr(begin, at - begin));
            base_ += at - begin;
        }
        const char byte = bytes[at++];
        node_ = automaton.next(node_, byte);
        held_ += byte;
        const auto end = base_ + held_.size() - head_;
        if (const auto matched = automaton.match(node_)) cover({end - matched, end});
        release(end - automaton.open(node_));
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
    const auto skipped = std::min<std::uint64_t>(lead_, bytes.size());
    lead_ -= skipped;
    bytes.remove_prefix(skipped);
    if (bytes.empty()) return;
    masking_ = false;
    out_ += bytes;
}

void Redactor::give_mask(std::uint64_t count)
{
    const auto skipped = std::min(lead_, count);
    lead_ -= skipped;
    if (skipped == count || masking_) return;
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
            give_mask(count);
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

std::string redact(const std::vector<std::string>& values, std::string_view text)
{
    Redactor redactor(std::make_shared<const RedactionPatterns>(values));
    std::string out(redactor.feed(text));
    out += redactor.finish();
    return out;
}

}  // namespace ponk::secrets
