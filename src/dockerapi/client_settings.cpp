// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/client_settings.hpp"

namespace ponk::dockerapi {

Path settings_folder(const std::vector<std::string>& environment)
{
    const auto named = variable(environment, "DOCKER_CONFIG");
    return named.empty() ? Path(variable(environment, "HOME")) / ".docker" : Path(named);
}

Result<Json> read_settings(const Path& folder)
{
    const auto file = folder / "config.json";
    const auto text = TRY(os::read_file_if_any(file, 1 << 20));
    if (!text) return Json(JsonObject());
    return parse_json(*text).map_error(while_doing("{}", os::in_quotes(file)));
}

}  // namespace ponk::dockerapi
