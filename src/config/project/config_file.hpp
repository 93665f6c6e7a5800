// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>

// One configuration file of any kind.
namespace ponk::config {

enum class FileKind {
    compute,
    runconfig,
    conda,
    spark,
    base_dependencies,
    ignore,
    project,
    mlproject,
    json,
    unknown
};

const char* to_string(FileKind kind);
// By the name alone. Copies and backups ("conda_dependencies - Copy.yml") count as what they copy.
FileKind kind_by_name(const os::Path& file);
// By the keys, for files whose name does not decide it.
FileKind kind_by_content(const Node& root);
// "docker" for "aml_config/docker.compute".
std::string name_of(const os::Path& file);

struct FileDump {
    std::optional<Json> document;  // {kind, schema, values, meaning}; absent when there are errors
    Diagnostics diagnostics;
};

// Reads one file of a project by itself; one that leads out of it is an error.
FileDump dump_file(const os::Path& root, const std::string& name);
// One that the user named, wherever it is.
FileDump dump_file(const os::Path& file);
// The same for a text that is not in the file `file` yet.
FileDump dump_text(std::string_view text, const os::Path& file, const std::string& shown);

// Whether a name is taken, also by a link that leads nowhere, by what is not a file, or by what we
// may not look at: that must be reported, not passed over as if there were nothing.
bool has_name(const os::Path& path);

// The tree of a file of the project; without one the reason is in `report`.
std::optional<Node> load_document(const os::Path& root, const os::Path& relative, Report& report);

}  // namespace ponk::config
