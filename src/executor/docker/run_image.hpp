// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"
#include "dockerapi/image.hpp"
#include "executor/job/job.hpp"

#include <optional>

// The image that a run asks for: brought, looked at, described.
namespace ponk::executor::docker {

// An answer of the engine that moves no data.
constexpr std::chrono::seconds patience{60};

// An earlier run's exactly, or what the configuration names.
const std::string& wanted_image(const Job& job);

// For its registry: the run's own credentials, else what the user's Docker client knows.
Result<std::optional<dockerapi::Login>> login_for(const Job& job, const std::stop_token& stop);

// Pulls it when it is not there.
Result<> provide_image(const dockerapi::Engine& engine,
                       const Job& job,
                       const Progress& progress,
                       const std::stop_token& stop);

// The image as it is, when containers can be made of it here.
Result<dockerapi::Image>
usable_image(const dockerapi::Engine& engine, const std::string& name, const std::stop_token& stop);

// The image of the run, so that another run can use the same.
Result<> describe_base(const dockerapi::Engine& engine,
                       const Job& job,
                       EnvironmentUsed& used,
                       const std::stop_token& stop);

// The Python and the packages that the image brings along. One that does not answer is a notice,
// not an obstacle.
Result<> describe_packages_of_image(const Path& home,
                                    const dockerapi::Engine& engine,
                                    const Job& job,
                                    EnvironmentUsed& used,
                                    Notices& notices,
                                    const std::stop_token& stop);

// What is to be done about the image when nothing uses it.
Result<Examination>
examine_image(const dockerapi::Engine& engine, const Job& job, const std::stop_token& stop);
// The same beside what was found about an environment on it.
Result<Examination> with_image(Examination found,
                               const dockerapi::Engine& engine,
                               const Job& job,
                               const std::stop_token& stop);

}  // namespace ponk::executor::docker
