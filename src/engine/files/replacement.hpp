// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "os/fd.hpp"

#include <functional>
#include <string>
#include <sys/stat.h>

namespace ponk::engine {

// A file with a name of its own in a folder, which takes the place of another one there. Other
// programs may write, rename and delete that one at any moment. What they wrote is never removed:
// a file is unlinked when it is ours, or has the text that was to be replaced.
class Replacement {
public:
    // Moments after which another program may have done something; tests do it there.
    enum class Moment { looked_at, exchanged, put_back };
    using Visit = std::function<void(Moment)>;

    // Empty, with the permissions and, where that is allowed, the owner of `like`. The folder's
    // descriptor must stay open as long as this lives.
    static Result<Replacement> create(int folder, const struct stat& like);
    ~Replacement();
    Replacement(Replacement&& other) noexcept;
    Replacement& operator=(Replacement&&) = delete;

    // Where its text is written.
    [[nodiscard]] int fd() const { return fd_.get(); }

    // Takes the place of `name` when that has the digest `before`; `own` is the digest of our text.
    // False: it has not, and the last text of others is there. An error names the file which keeps
    // a text of others that could not be put back.
    Result<bool> replace(const std::string& name,
                         const Digest& before,
                         const Digest& own,
                         const Visit& visit = {});

private:
    Replacement(int folder, std::string name, os::Fd fd);
    [[nodiscard]] bool exchange_with(const std::string& name) const;
    [[nodiscard]] bool is_our_file() const;
    Result<bool> put_back(const std::string& name, const Digest& own, const Visit& visit);
    void remove();

    int folder_;
    std::string name_;
    os::Fd fd_;
};

}  // namespace ponk::engine
