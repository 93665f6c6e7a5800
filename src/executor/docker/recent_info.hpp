// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "dockerapi/engine.hpp"

#include <map>

namespace ponk::executor::docker {

// What engines said about themselves a moment ago. An engine gathers that again for each question,
// and a run asks while it is staged and when it is launched; those that come in a row ask once.
// Any thread may call.
class RecentInfo {
public:
    static constexpr std::chrono::seconds longest{10};

    Result<dockerapi::Info> of(const dockerapi::Engine& engine, const std::stop_token& stop);

private:
    struct Said {
        dockerapi::Info info;
        Deadline until;
    };
    Synced<std::map<os::Path, Said>> said_;
};

}  // namespace ponk::executor::docker
