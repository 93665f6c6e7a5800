// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "secrets/form_graph.hpp"
#include "secrets/redactor.hpp"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::secrets {

// Follows all ways in which a text may be written through a stream, all at once. What it must
// remember of the stream is a list of threads: places up to which something has matched so far.
// Immutable; whoever reads a stream keeps its threads.
class RedactionPatterns::Matcher {
public:
    struct Thread {
        std::uint64_t start;    // position in the stream of the first byte
        std::uint32_t program;  // what is being matched
        std::uint32_t unit;     // how much of it has
        FormGraph::Node node;   // where in the unit's graph, or in that of the gap before it
        bool in_gap;
    };
    using Threads = std::vector<Thread>;  // the earliest start first

    explicit Matcher(const std::set<std::string>& texts);

    [[nodiscard]] bool empty() const noexcept { return programs_.empty(); }
    // The first place where something to look for may begin, as far as the bytes tell:
    // `bytes.size()` when there is none.
    [[nodiscard]] std::size_t find_beginning(std::string_view bytes) const;
    // Reads the first of `bytes`, which is at `position`: moves the threads on into `next`, and
    // begins those that may begin here. Returns where the longest match that ends with it begins.
    std::optional<std::uint64_t> step(const Threads& threads,
                                      std::string_view bytes,
                                      std::uint64_t position,
                                      Threads& next) const;

private:
    // A text in one kind of writing.
    struct Program {
        std::vector<const FormGraph*> units;
        const FormGraph* gap = nullptr;  // what may be between two units
        std::uint32_t starts = 1;        // may begin with the first so many units
        std::uint32_t ends = 1;          // complete before the last `ends - 1` units, too
    };
    struct Step;
    // A thread that has read its first byte, and the second that it can read.
    struct Beginning {
        std::uint16_t pair;
        Thread thread;
    };

    // Nothing to look for is shorter.
    static constexpr std::size_t beginning = 4;

    static std::uint16_t pair(const char* bytes)
    {
        return static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[0]) << 8U |
                                          static_cast<unsigned char>(bytes[1]));
    }
    static std::uint32_t four(const char* bytes)
    {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes, beginning);
        return value;
    }
    // Where a beginning has its bit in `hashed_`.
    [[nodiscard]] std::size_t place(std::uint32_t four) const
    {
        return four * 0x9e3779b1U >> hash_shift_;
    }
    [[nodiscard]] bool begins_with_four(const char* bytes) const
    {
        return pairs_[pair(bytes)] && hashed_[place(four(bytes))] &&
               std::binary_search(fours_.begin(), fours_.end(), four(bytes));
    }
    // False when these bytes are certainly no beginning.
    [[nodiscard]] bool may_begin(std::string_view bytes) const;
    void add_text(std::string_view text);
    void add_base64(std::string_view text, std::size_t before);
    void add_hex(std::string_view text);
    void index_beginnings();
    void add_beginning(const Thread& start, const FormGraph::Edge& edge);
    void collect_fours(const Thread& thread, std::string& bytes);
    template <class Edges, class Visit>
    void visit_ways(const Thread& thread, Edges edges, Visit visit) const;
    // Calls `visit` with every byte that can follow.
    template <class Visit>
    void for_each_way_on(const Thread& thread, Visit visit) const;
    void follow(const Thread& thread, char byte, Step& step) const;
    void arrive(Thread thread, Step& step) const;
    void begin(std::string_view bytes, std::uint64_t position, Step& step) const;

    std::vector<Program> programs_;
    std::deque<std::unique_ptr<const FormGraph>> characters_;  // beyond ASCII, of these texts
    std::vector<Beginning> beginnings_;                        // sorted
    // Most of a log is passed over by asking these, one after the other: pairs of bytes with which
    // something begins, and fours of bytes, by a hash and then exactly.
    std::bitset<65536> pairs_;
    std::vector<bool> hashed_;
    std::vector<std::uint32_t> fours_;  // sorted
    unsigned hash_shift_ = 0;
};

}  // namespace ponk::secrets
