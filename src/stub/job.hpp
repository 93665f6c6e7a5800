// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace ponk::stub {

// What to execute. Read once at start-up into memory that is never given back.
struct Job {
    const char* run = "";
    const char* token = "";
    const char* key = "";  // seals what we write; empty when we were given none
    const char* directory = ".";
    const char* program = nullptr;        // a path, or a name to be looked up on the script's PATH
    const char* other_program = nullptr;  // tried when the first is not there
    char** argv = nullptr;
    char** environment = nullptr;
    const char* relay = nullptr;    // program that answers MLflow's clients of the run
    const char* input = nullptr;    // a pipe in the run's folder that is the script's input
    char** holds = nullptr;         // files of which the run takes a share, ended by a null pointer
    bool term_reaches_all = false;  // whoever ends us by SIGTERM has told the script as well
    mode_t umask = 022;
    std::int64_t time_limit_ms = 0;  // 0: none
    std::int64_t grace_ms = 10'000;
};

// Reads the file `spec` of the current folder. Returns nullptr, or what is wrong with it.
const char* read_spec(Job& job);
// Reads words, each ended by NUL, until the end of `fd`: the run's key, and "K=V" for each
// variable.
const char* read_environment(int fd, Job& job);

}  // namespace ponk::stub
