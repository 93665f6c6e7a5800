// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"
#include "store/points/points_by_key.hpp"
#include "store/points/uncompacted.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace ponk::store {

// Reads points that wait in the table `tail`, as the transaction of a reader sees them. To be made
// before that transaction begins; used by one thread. Changes nothing and waits for nobody.
class TailReader {
public:
    explicit TailReader(const Uncompacted& uncompacted)
        : uncompacted_(uncompacted), forgotten_(uncompacted.forgotten())
    {
    }

    // Points of the run in the order of arrival, of these keys alone; of none named: of all. One
    // short statement when the run has no tail.
    Result<PointsByKey>
    points(db::Connection& reader, std::int64_t run, std::span<const std::string> keys = {}) const;
    // The same of all runs that have some.
    Result<std::map<std::int64_t, PointsByKey>> all_points(db::Connection& reader,
                                                           std::span<const std::string> keys) const;

private:
    // Whether the list of rows in memory has all that the transaction sees.
    [[nodiscard]] bool knows_all() const { return uncompacted_.forgotten() == forgotten_; }

    const Uncompacted& uncompacted_;
    std::uint64_t forgotten_;
};

}  // namespace ponk::store
