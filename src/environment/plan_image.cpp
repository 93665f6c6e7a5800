// SPDX-License-Identifier: Apache-2.0
#include "environment/preparation.hpp"

namespace ponk::environment {

Result<Preparation>
plan_image(const Settings&, const Request&, Wishes, const Progress&, std::stop_token)
{
    return fail(ErrorKind::internal, "images are not built yet");
}

}  // namespace ponk::environment
