// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/build/build_context.hpp"
#include "environment/tools/settings.hpp"

#include <string>

namespace ponk::environment {

// The proxy, index and certificate settings of the machine that builds, for the steps of an image's
// build. Nothing of it stays in the image: proxies are build arguments that every engine knows and
// never records, the rest is in files that are mounted during a step.
struct ImageSettings {
    Variables proxies;
    Variables others;  // paths already as the step sees them
};

// Puts the files that the settings name (certificates, folders of wheels) into the context below
// `mount`, which the step sees at `seen_at`. pip's own configuration files count too.
Result<ImageSettings> settings_for_image(const Settings& settings,
                                         const std::string& mount,
                                         const std::string& seen_at,
                                         BuildContextFiles& files);

// What pip.conf files of user and machine say about indexes and certificates, as PIP_… variables.
Variables pip_configuration(std::string_view text);

}  // namespace ponk::environment
