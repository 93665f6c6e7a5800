// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/place.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

struct PythonImport {
    enum class Kind { required, attempted };  // attempted: below `try` or `except`

    std::string module;  // "sklearn.svm"; of a relative import what follows the dots
    std::string name;    // "SVC" in "from sklearn.svm import SVC"; empty: the module itself
    Place place;
    Kind kind = Kind::required;
    std::size_t dots = 0;  // before the module

    // "sklearn.svm.SVC"
    [[nodiscard]] std::string whole() const;
};

// A name with what imports say of its first part: "tensorflow.app.flags" for `tf.app.flags`. Of a
// value whose type is unknown without running the script: ".ix[", ".as_matrix(".
struct PythonUse {
    std::string name;
    Place place;
};

// What a Python file imports and uses, by its words.
struct PythonNames {
    std::vector<PythonImport> imports;
    std::vector<PythonUse> uses;
    // Of "os" and "sys", those that are used and that nothing in the file imports or sets.
    std::vector<std::string> missing;

    [[nodiscard]] bool imports_package(std::string_view package) const;
};

PythonNames python_names(std::string_view text);

}  // namespace ponk::config
