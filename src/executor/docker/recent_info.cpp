// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/recent_info.hpp"

#include "executor/docker/run_image.hpp"

namespace ponk::executor::docker {

Result<dockerapi::Info> RecentInfo::of(const dockerapi::Engine& engine, const std::stop_token& stop)
{
    {
        const auto said = said_.lock();
        const auto known = said->find(engine.socket());
        if (known != said->end() && Deadline::clock::now() < known->second.until)
            return known->second.info;
    }
    auto info = TRY(engine.info(after(patience), stop));
    said_.lock()->insert_or_assign(engine.socket(), Said{info, after(longest)});
    return info;
}

}  // namespace ponk::executor::docker
