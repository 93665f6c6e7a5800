// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/runs/run_view.hpp"

namespace ponk::cli {

// Changes fields of the run that the user named, and returns its record as it is then.
inline Result<Json> change_run(Context& context, std::string_view name, JsonObject fields)
{
    const Json record = TRY(context.run(name));
    return TRY(context.daemon())
        ->send("PATCH",
               "/runs/" + record.text("run_id"),
               Json(std::move(fields)),
               Daemon::Repeat::when_broken);
}

}  // namespace ponk::cli
