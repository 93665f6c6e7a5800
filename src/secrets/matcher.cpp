// SPDX-License-Identifier: Apache-2.0
#include "secrets/matcher.hpp"

#include "secrets/written_forms.hpp"

#include <algorithm>
#include <unordered_set>

namespace ponk::secrets {

using Matcher = RedactionPatterns::Matcher;

namespace {

// Bit `index` of the text, counted from its first byte's highest.
unsigned bit(std::string_view text, std::size_t index)
{
    return (static_cast<unsigned char>(text[index / 8]) >> (7 - index % 8)) & 1U;
}

struct Character {
    std::size_t size = 1;
    char32_t number = 0;  // 0 unless it has several bytes
};

// The character at the front, or one byte of what is no UTF-8.
Character front_character(std::string_view text)
{
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(0);
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    if (size == 1 || first > 0xf4) return {};
    auto number = static_cast<char32_t>(first & (0x7fU >> size));
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return {};
        number = number << 6U | (byte(i) & 0x3fU);
    }
    return {size, number};
}

bool same_place(const Matcher::Thread& one, const Matcher::Thread& other)
{
    return one.unit == other.unit && one.program == other.program && one.node == other.node &&
           one.in_gap == other.in_gap;
}

// Up to here looking through the list is quicker.
constexpr std::size_t short_list = 24;

}  // namespace

// One byte's work. Threads come in the order of their starts, so of several at one place the first
// is the one to keep.
struct Matcher::Step {
    struct PlaceHash {
        std::size_t operator()(const Thread& thread) const
        {
            const auto place = std::uint64_t{thread.program} << 40U ^
                               std::uint64_t{thread.unit} << 17U ^
                               std::uint64_t{thread.node} << 1U ^ std::uint64_t{thread.in_gap};
            return std::hash<std::uint64_t>()(place * 0x9e3779b97f4a7c15U >> 16U);
        }
    };

    struct SamePlace {
        bool operator()(const Thread& one, const Thread& other) const
        {
            return same_place(one, other);
        }
    };

    Threads& next;
    std::optional<std::uint64_t> match = std::nullopt;
    std::unordered_set<Thread, PlaceHash, SamePlace> places = {};

    void keep(const Thread& thread)
    {
        if (next.size() < short_list) {
            const bool known = std::any_of(next.begin(), next.end(), [&](const Thread& other) {
                return same_place(thread, other);
            });
            if (!known) next.push_back(thread);
            return;
        }
        if (places.empty()) places.insert(next.begin(), next.end());
        if (places.insert(thread).second) next.push_back(thread);
    }
};

Matcher::Matcher(const std::set<std::string>& texts)
{
    for (const auto& text : texts) {
        add_text(text);
        add_hex(text);
        for (std::size_t before = 0; before < 3; ++before)
            add_base64(text, before);
    }
    index_beginnings();
}

void Matcher::add_text(std::string_view text)
{
    Program program;
    while (!text.empty()) {
        const auto front = front_character(text);
        if (front.size == 1) {
            program.units.push_back(&text_byte(static_cast<unsigned char>(text.front())));
        } else {
            characters_.push_back(text_character(text.substr(0, front.size), front.number));
            program.units.push_back(characters_.back().get());
        }
        text.remove_prefix(front.size);
    }
    programs_.push_back(std::move(program));
}

// `before` bytes (modulo 3) precede the text in what was encoded. Characters at its ends may have
// bits of neighbours; they are hidden with the rest where they are there.
void Matcher::add_base64(std::string_view text, std::size_t before)
{
    Program program{.gap = &base64_gap()};
    const std::size_t first_bit = 8 * before;
    const std::size_t end_bit = first_bit + 8 * text.size();
    for (std::size_t at = first_bit / 6 * 6; at < end_bit; at += 6) {
        const auto from = std::max(at, first_bit);
        const auto to = std::min(at + 6, end_bit);
        unsigned bits = 0;
        for (auto i = from; i < to; ++i)
            bits = bits << 1U | bit(text, i - first_bit);
        program.units.push_back(&base64_character(bits,
                                                  static_cast<unsigned>(to - from),
                                                  from > at ? KnownBits::last : KnownBits::first));
    }
    if (first_bit % 6 != 0) program.starts = 2;
    if (end_bit % 6 != 0) program.ends = 2;
    programs_.push_back(std::move(program));
}

void Matcher::add_hex(std::string_view text)
{
    Program program{.gap = &hex_gap()};
    for (const char byte : text)
        program.units.push_back(&hex_byte(static_cast<unsigned char>(byte)));
    programs_.push_back(std::move(program));
}

template <class Edges, class Visit>
void Matcher::visit_ways(const Thread& thread, Edges edges, Visit visit) const
{
    const auto& program = programs_[thread.program];
    const auto& unit = *program.units[thread.unit];
    Thread moved = thread;
    const auto visit_all = [&](const FormGraph& graph, FormGraph::Node node, bool in_gap) {
        moved.in_gap = in_gap;
        for (const auto& edge : edges(graph, node)) {
            moved.node = edge.to;
            visit(edge.byte, moved);
        }
    };
    if (thread.in_gap) {
        if (thread.node == FormGraph::exit) {
            visit_all(unit, FormGraph::entry, false);
        } else {
            visit_all(*program.gap, thread.node, true);
        }
        return;
    }
    visit_all(unit, thread.node, false);
    // A gap is between two units, never before the first.
    const bool between = thread.node == FormGraph::entry && thread.unit > 0;
    if (between && program.gap) visit_all(*program.gap, FormGraph::entry, true);
}

template <class Visit>
void Matcher::for_each_way_on(const Thread& thread, Visit visit) const
{
    visit_ways(
        thread,
        [](const FormGraph& graph, FormGraph::Node node) { return graph.edges(node); },
        visit);
}

void Matcher::collect_fours(const Thread& thread, std::string& bytes)
{
    for_each_way_on(thread, [&](char byte, Thread moved) {
        bytes.push_back(byte);
        if (!moved.in_gap && moved.node == FormGraph::exit) {
            ++moved.unit;
            moved.node = FormGraph::entry;
        }
        if (bytes.size() == beginning) {
            fours_.push_back(four(bytes.data()));
        } else {
            collect_fours(moved, bytes);
        }
        bytes.pop_back();
    });
}

void Matcher::add_beginning(const Thread& start, const FormGraph::Edge& edge)
{
    Thread thread = start;
    thread.node = edge.to;
    Thread behind = thread;
    if (behind.node == FormGraph::exit) {
        ++behind.unit;
        behind.node = FormGraph::entry;
    }
    std::bitset<256> seen;
    for_each_way_on(behind, [&](char second, const Thread&) {
        if (seen[static_cast<unsigned char>(second)]) return;
        seen.set(static_cast<unsigned char>(second));
        const char bytes[2] = {edge.byte, second};
        beginnings_.push_back({pair(bytes), thread});
    });
}

void Matcher::index_beginnings()
{
    for (std::uint32_t i = 0; i < programs_.size(); ++i) {
        for (std::uint32_t unit = 0; unit < programs_[i].starts; ++unit) {
            // Begun in the middle a gap could come first; it is no part of what is looked for.
            const Thread start{0, i, unit, FormGraph::entry, false};
            for (const auto& edge : programs_[i].units[unit]->edges(FormGraph::entry))
                add_beginning(start, edge);
            std::string bytes;
            collect_fours(start, bytes);
        }
    }
    std::sort(beginnings_.begin(), beginnings_.end(), [](const auto& one, const auto& other) {
        return one.pair < other.pair;
    });
    std::sort(fours_.begin(), fours_.end());
    fours_.erase(std::unique(fours_.begin(), fours_.end()), fours_.end());
    fours_.shrink_to_fit();
    unsigned bits = 12;
    while (bits < 22 && std::size_t{1} << bits < fours_.size() * 16)
        ++bits;
    hash_shift_ = 32 - bits;
    hashed_.assign(std::size_t{1} << bits, false);
    for (const auto known : fours_) {
        char bytes[beginning];
        std::memcpy(bytes, &known, beginning);
        pairs_.set(pair(bytes));
        hashed_[place(known)] = true;
    }
}

std::size_t Matcher::find_beginning(std::string_view bytes) const
{
    std::size_t at = 0;
    while (at + beginning <= bytes.size() && !begins_with_four(bytes.data() + at))
        ++at;
    while (at < bytes.size() && !may_begin(bytes.substr(at)))
        ++at;
    return at;
}

bool Matcher::may_begin(std::string_view bytes) const
{
    if (bytes.size() >= beginning) return begins_with_four(bytes.data());
    return bytes.size() < 2 || pairs_[pair(bytes.data())];
}

void Matcher::arrive(Thread thread, Step& step) const
{
    if (!thread.in_gap && thread.node == FormGraph::exit) {
        const auto& program = programs_[thread.program];
        ++thread.unit;
        thread.node = FormGraph::entry;
        const auto left = program.units.size() - thread.unit;
        if (left < program.ends)
            step.match = std::min(thread.start, step.match.value_or(thread.start));
        if (left == 0) return;
    }
    step.keep(thread);
}

void Matcher::follow(const Thread& thread, char byte, Step& step) const
{
    visit_ways(
        thread,
        [byte](const FormGraph& graph, FormGraph::Node node) { return graph.edges(node, byte); },
        [&](char, const Thread& moved) { arrive(moved, step); });
}

void Matcher::begin(std::string_view bytes, std::uint64_t position, Step& step) const
{
    if (!may_begin(bytes)) return;
    const char seconds[2] = {'\0', '\xff'};
    const char first[2] = {bytes[0], bytes.size() > 1 ? bytes[1] : seconds[0]};
    const char last[2] = {bytes[0], bytes.size() > 1 ? bytes[1] : seconds[1]};
    auto at = std::lower_bound(beginnings_.begin(),
                               beginnings_.end(),
                               pair(first),
                               [](const Beginning& one, auto key) { return one.pair < key; });
    for (; at != beginnings_.end() && at->pair <= pair(last); ++at) {
        Thread thread = at->thread;
        thread.start = position;
        arrive(thread, step);
    }
}

std::optional<std::uint64_t> Matcher::step(const Threads& threads,
                                           std::string_view bytes,
                                           std::uint64_t position,
                                           Threads& next) const
{
    next.clear();
    Step step{next};
    for (const auto& thread : threads)
        follow(thread, bytes.front(), step);
    begin(bytes, position, step);
    return step.match;
}

}  // namespace ponk::secrets
