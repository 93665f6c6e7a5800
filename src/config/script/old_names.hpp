// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

// Modules and names that scripts of earlier years use, and what takes their place.
namespace ponk::config {

struct OldName {
    std::string_view name;       // with all below it: "sklearn.externals"; ".ix[" of any value
    std::string_view package;    // that had it
    std::string_view since;      // its first version without it; empty: not known
    std::string_view instead;    // a sentence; empty: its name below tensorflow.compat.v1
    std::string_view what = {};  // where no version says it: completes "'cntk' …"
};

// All of them, sorted by name.
std::span<const OldName> old_names();
// The row that fits best: of "sklearn.externals.joblib.dump" that of "sklearn.externals.joblib".
const OldName* find_old_name(std::string_view name);
// "'sklearn.cross_validation' was removed in scikit-learn 0.20"
std::string what_became_of(const OldName& old);
// "Use 'sklearn.model_selection'."
std::string advice_on(const OldName& old);

}  // namespace ponk::config
