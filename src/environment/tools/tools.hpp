// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/spec/package_request.hpp"
#include "environment/tools/settings.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::environment {

// A Python that was started and asked.
struct Python {
    Path program;      // as it was found
    Path real;         // where the links end
    std::string name;  // "cpython"
    std::string version;
    bool has_venv = false;  // with pip for it

    // The base of a venv.
    [[nodiscard]] std::string identity() const;
};

// nullopt when it does not start or is none.
std::optional<Python>
ask_python(const Path& program, const Settings& settings, std::stop_token stop);
// Interpreters on PATH (or the one named) in order of preference, each real one once; no further
// than the first that is `enough`, since starting one takes time. Those whose name holds the wanted
// version come first.
std::vector<Python> find_pythons(const std::string& named,
                                 const std::string& constraint,
                                 const std::function<bool(const Python&)>& enough,
                                 const Settings& settings,
                                 std::stop_token stop);

enum class Builder { uv, venv, micromamba, mamba, conda, pixi, rattler };

const char* to_string(Builder builder);
bool is_conda_like(Builder builder);

struct CondaTool {
    Builder builder = Builder::conda;
    Path program;
};
// The configured one, else $MAMBA_EXE and $CONDA_EXE, else the first on PATH.
std::optional<CondaTool> find_conda_tool(const Settings& settings);

// Who builds a prefix on this machine, and why.
struct BuildPlan {
    Builder builder = Builder::venv;
    // uv's or the conda tool's; empty for venv and rattler, and for one that is fetched first.
    Path program;
    std::string address;           // PONK_CONDA, where it is not a path
    std::optional<Python> python;  // the base of a venv, or that can carry py-rattler
    std::string reason;
};

// Only `python` and pip packages and an interpreter at hand that fits: uv, else venv and pip. Else
// a conda tool that was found, else py-rattler. The error says what is missing and what to do.
Result<BuildPlan> choose_builder(const PackageRequest& packages,
                                 const std::string& named_python,
                                 const Settings& settings,
                                 std::stop_token stop);

}  // namespace ponk::environment
