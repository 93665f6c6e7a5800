// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"
#include "relay/recorder.hpp"

#include <atomic>
#include <chrono>
#include <string>

namespace ponk::relay {

// A call that only the daemon can answer, as the client made it.
struct ForwardedRequest {
    std::string method;
    std::string target;
    std::string type = {};   // of the body
    std::string body = {};   // text
    std::string range = {};  // "bytes=0-99" of a file
};

struct ForwardedAnswer {
    int status = 0;
    std::string type;
    std::string range;  // "bytes 0-99/1000" when it is a part
    std::string body;
};

// Passes calls on to the daemon: the question is a record of the journal, which comes home as all
// records do, the answer a file in the run directory. So it works wherever the run is, in the order
// of what was logged before, and without a connection of its own. Any thread may ask.
class ForwardedRequests {
public:
    // How long a question waits for its answer, and how long when the last one got none.
    struct Patience {
        std::chrono::milliseconds usual = std::chrono::seconds(10);
        std::chrono::milliseconds in_vain = std::chrono::seconds(1);
    };

    ForwardedRequests(Recorder& recorder, const os::Path& directory, Patience patience);
    ForwardedRequests(Recorder& recorder, const os::Path& directory)
        : ForwardedRequests(recorder, directory, Patience())
    {
    }

    // `timeout` when nobody answers in time: then the daemon will not carry it out either, unless
    // it had begun.
    Result<ForwardedAnswer> ask(const ForwardedRequest& ask);

    static constexpr std::size_t longest_body = 400'000;

private:
    Result<std::string> wait_for(const std::string& name);

    Recorder& recorder_;
    os::Path answers_;
    Patience patience_;
    std::atomic<bool> in_vain_{false};
};

}  // namespace ponk::relay
