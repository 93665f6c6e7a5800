// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "relay/journal.hpp"
#include "relay/tracked_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::relay {

struct HistoryPage {
    std::vector<Point> points;
    std::string next;  // the word for the page behind it; empty: there is none
};

// Points of metrics in pages. They are in the journals only; a series that somebody pages through
// is kept meanwhile, so that all of its pages together read the journals once. Any thread.
class Histories {
public:
    Histories(const Journal& journal, std::string own_run)
        : journal_(journal), own_run_(std::move(own_run))
    {
    }

    // By time, step and value, each point once. `after` is the `next` of another page: what comes
    // later is behind that page or on none, and shifts nothing. `invalid_argument` when it is of
    // another form.
    Result<HistoryPage> page(const std::string& run,
                             const std::string& metric,
                             const std::string& after,
                             std::size_t most);

    // What was read may be in the journals no more.
    void forget();

private:
    struct Series {
        std::string run;
        std::string metric;
        std::vector<Point> points;  // in their order
        Journal::Position behind;   // up to here the journals were read
    };
    struct Kept {
        std::vector<Series> series;  // the one used last at the end
        std::uint64_t forgotten = 0;
    };

    Result<> read_on(Series& series) const;
    void keep(Series series, std::uint64_t forgotten);

    const Journal& journal_;
    std::string own_run_;
    Synced<Kept> kept_;
};

}  // namespace ponk::relay
