// SPDX-License-Identifier: Apache-2.0
// ponk-nvml: asks the NVIDIA driver in a process of its own. Reads "inventory" and "sample" from
// standard input, one word a line, and answers each with a line of JSON (docs/design/gpu.md).
#include "gpu/nvml/sample.hpp"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace {

ponk::nvml::Machine machine;

bool write_line(ponk::nvml::Text& text)
{
    text.add("\n");
    std::size_t done = 0;
    while (done < text.size()) {
        const auto put = write(STDOUT_FILENO, text.data() + done, text.size() - done);
        if (put <= 0) return false;
        done += static_cast<std::size_t>(put);
    }
    return true;
}

}  // namespace

int main()
{
    ponk::nvml::Text answer;
    char line[64];
    while (std::fgets(line, sizeof line, stdin)) {
        line[std::strcspn(line, "\r\n")] = '\0';
        answer.clear();
        if (std::strcmp(line, "inventory") == 0) {
            write_inventory(machine, answer);
        } else if (std::strcmp(line, "sample") == 0) {
            write_sample(machine, answer);
        } else {
            answer.open('{');
            answer.member("error", "the requests are 'inventory' and 'sample'");
            answer.close('}');
        }
        if (!write_line(answer)) return 1;
    }
    return 0;
}
