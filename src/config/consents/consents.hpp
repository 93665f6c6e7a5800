// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the user allowed the projects on this machine, beyond running code: $PONK_HOME/allowed.json,
// docs/design/consents.md. A project may be somebody else's, so its files ask and do not decide.
namespace ponk::config {

struct ResolvedConfiguration;

enum class ConsentKind {
    secret,           // to read the value of a stored secret
    docker_argument,  // an argument of `docker run` that reaches the host
    folder            // a folder of the machine in the place of the usual shared one
};

const char* to_string(ConsentKind kind);
std::optional<ConsentKind> consent_kind_from(std::string_view word);

// Something that a project asks for.
struct Request {
    ConsentKind kind = ConsentKind::secret;
    std::string what;   // name of the secret, argument with its value, path of the folder
    std::string where;  // "aml_config/docker.runconfig:7"; empty where no file says it

    // "the secret 'TOKEN' (aml_config/docker.runconfig:7)"
    [[nodiscard]] std::string text() const;
};

// All that a run configuration with its target asks for; each once.
Result<std::vector<Request>> requests_of(const ResolvedConfiguration& resolved);
// Those docker arguments that reach the host.
Result<std::vector<Request>> docker_requests(const std::vector<std::string>& arguments);

struct Consent {
    ConsentKind kind = ConsentKind::secret;
    std::string project;  // real path of its folder; "*" for every project
    std::string what;
    std::int64_t time = 0;  // wall-clock milliseconds

    static constexpr const char* every_project = "*";
};

// The file. Any number of threads and processes may use it at once.
class Consents {
public:
    explicit Consents(const os::Path& home);

    // `damaged` when the file cannot be understood; none when it is not there.
    [[nodiscard]] Result<std::vector<Consent>> list() const;
    Result<> add(const Consent& consent);
    // `not_found` when there is no such consent.
    Result<> remove(const Consent& consent);
    // Those of all projects.
    Result<> forget(ConsentKind kind, const std::string& what);

    // Those of the requests that the project was not allowed.
    [[nodiscard]] Result<std::vector<Request>> missing(const os::Path& project,
                                                       std::vector<Request> requests) const;
    // Fails with `conflict` when one is missing: each is named, and so is the line that allows all.
    [[nodiscard]] Result<> require(const os::Path& project, std::vector<Request> requests) const;

private:
    Result<> write(const std::vector<Consent>& consents) const;

    os::Path file_;
    os::Path lock_;
};

// The name under which a folder's consents are kept.
std::string project_name_in_consents(const os::Path& folder);

}  // namespace ponk::config
