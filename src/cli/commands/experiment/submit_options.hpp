// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/command.hpp"

// What `submit` and `prepare` have in common.
namespace ponk::cli::common {

inline constexpr Option run_configuration = {.name = "run-configuration",
                                             .brief = "c",
                                             .value = "NAME",
                                             .help =
                                                 "Run configuration, aml_config/NAME.runconfig. "
                                                 "Default: local.",
                                             .complete = Complete::configuration};
inline constexpr Option target = {.name = "target",
                                  .brief = "t",
                                  .value = "NAME",
                                  .help = "Use this compute target instead of the configuration's.",
                                  .complete = Complete::target};
inline constexpr Option conda = {.name = "conda-dependencies",
                                 .brief = "d",
                                 .value = "FILE",
                                 .help = "Install the packages of this file: a conda file, "
                                         "requirements.txt, pyproject.toml or uv.lock.",
                                 .complete = Complete::file};
inline constexpr Option spark = {.name = "spark-dependencies",
                                 .brief = "s",
                                 .value = "FILE",
                                 .help = "Use this Spark file instead of the configuration's.",
                                 .complete = Complete::file};
inline constexpr Option substitute = {.name = "substitute",
                                      .help = "Replace packages that no longer exist, and known "
                                              "typos. Each replacement is shown and recorded."};
inline constexpr Option async = {.name = "async",
                                 .brief = "a",
                                 .help = "Do not follow the run: print its id, and return as soon "
                                         "as the project's files may be changed."};

}  // namespace ponk::cli::common
