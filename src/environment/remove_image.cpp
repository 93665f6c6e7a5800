// SPDX-License-Identifier: Apache-2.0
#include "environment/remove_image.hpp"

#include "base/text.hpp"
#include "dockerapi/image.hpp"
#include "environment/image_names.hpp"

namespace ponk::environment {

using namespace std::chrono_literals;

Cache::RemoveImage image_remover(std::vector<dockerapi::Engine> engines)
{
    return [engines = std::move(engines)](const Record& record) -> Result<> {
        for (const auto& engine : engines) {
            const auto info = TRY(engine.info(after(60s)));
            if (info.id != record.engine) continue;
            return dockerapi::remove_image(engine, image_tag(record.key), after(60s))
                .map_error(while_doing("remove the image of environment '{}'", record.id));
        }
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  fmt::format("the engine of target '{}' that has the image of environment '{}' is "
                              "not there",
                              printable(record.target),
                              record.id),
                  "Start it, or connect to its machine, and try again."));
    };
}

}  // namespace ponk::environment
