// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::secrets {

using os::Path;

enum class Place {
    keyring,  // the desktop's Secret Service
    file,     // sealed, below PONK_HOME
};
const char* to_string(Place place);

struct SecretInfo {
    std::string name;
    Place where = Place::file;
    std::int64_t updated = 0;  // wall-clock milliseconds
    std::string problem;       // why it cannot be read; empty when it can
};

// Values that runs use by name. A value that is replaced or removed can no longer be used, but is
// kept, sealed, so that the logs of runs that used it are still shown without it.
//
// Holds no value in memory between calls. Safe for several threads and several processes: who
// changes something takes a lock file meanwhile.
class Secrets {
public:
    enum class Keyring { when_there, never };

    // `home` is PONK_HOME; nothing is made before the first `set`.
    explicit Secrets(const Path& home, Keyring keyring = Keyring::when_there);

    // Names are 1 to 128 of A-Z a-z 0-9 _ . - and begin with a letter or digit or underscore.
    Result<SecretInfo> set(const std::string& name, std::string_view value);
    // Secrets that can be used, by name. One whose file is damaged is in the list with its problem.
    Result<std::vector<SecretInfo>> list() const;
    // `not_found` with a suggestion when there is no such secret.
    Result<std::string> get(const std::string& name) const;
    // It can no longer be used; its values are still hidden in logs.
    Result<> remove(const std::string& name);
    // Forgets every value it ever had. Logs of earlier runs will show them.
    Result<> purge(const std::string& name);

    // Every value that these names have or had. Fails when one cannot be read, because a log shown
    // without it would not be safe; a name that was never set has no values.
    Result<std::vector<std::string>>
    values_for_redaction(const std::vector<std::string>& names) const;

private:
    Path folder_;
    Keyring keyring_;
};

}  // namespace ponk::secrets
