// SPDX-License-Identifier: Apache-2.0
#include "environment/cache/remove_image.hpp"

#include "base/text.hpp"
#include "dockerapi/build_cache.hpp"
#include "dockerapi/container.hpp"
#include "dockerapi/image.hpp"
#include "environment/spec/image_names.hpp"

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;

bool is_step_of_ours(const dockerapi::BuildCacheEntry& entry)
{
    return entry.description.find(build_mount) != std::string::npos ||
           entry.description.find(image_prefix) != std::string::npos;
}

Error other_engine(const Record& record)
{
    return {ErrorKind::unavailable,
            fmt::format(
                "the engine of target '{}' with the image of environment '{}' is no longer at '{}'",
                printable(record.target),
                record.id,
                printable(record.socket)),
            "Start it, or connect to its machine, and try again."};
}

Result<dockerapi::Engine> engine_of(const Record& record, const std::stop_token& stop)
{
    auto engine = TRY(dockerapi::Engine::connect(record.socket, after(patience), stop));
    if (TRY(engine.info(after(patience), stop)).id != record.engine)
        return tl::unexpected(other_engine(record));
    return engine;
}

}  // namespace

Result<bool> is_image_in_use(const Record& record, const std::stop_token& stop)
{
    const auto engine = TRY(engine_of(record, stop));
    return !TRY(dockerapi::living_containers_of(engine, record.image, after(patience), stop))
                .empty();
}

Result<std::vector<std::string>> holders_of_image(const Record& record, const std::stop_token& stop)
{
    const auto engine = TRY(engine_of(record, stop));
    return dockerapi::containers_of(engine, record.image, after(patience), stop);
}

Cache::RemoveImage image_remover()
{
    return [](const Record& record) -> Result<std::vector<std::string>> {
        const auto engine = TRY(engine_of(record, {}));
        const auto users =
            TRY(dockerapi::living_containers_of(engine, record.image, after(patience), {}));
        if (!users.empty()) {
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      fmt::format("environment '{}' is in use: container '{}' uses its image",
                                  record.id,
                                  users.front()),
                      "Wait for the run, or cancel it."));
        }
        // Afterwards the engine knows no image any more to ask about.
        auto holders = TRY(dockerapi::containers_of(engine, record.image, after(patience), {}));
        TRY(dockerapi::remove_image(engine, image_tag(record.key), after(patience))
                .map_error(while_doing("remove the image of environment '{}'", record.id)));
        // Its layers are the build cache's now. Only steps of ours go, and none that another image
        // needs; an engine that does not want to is no failure: the image is gone.
        static_cast<void>(dockerapi::prune_build_cache(engine, is_step_of_ours, after(patience)));
        return holders;
    };
}

}  // namespace ponk::environment
