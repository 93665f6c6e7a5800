// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// The script for "bash", "zsh" or "fish". It asks this program (`ponk __complete`) at each Tab, so
// it knows every command without listing any.
std::string completion_script(std::string_view shell, std::string_view name = "ponk");

// Candidates for the last word. ":file" and ":folder" ask the shell for its own candidates.
struct Candidate {
    std::string word;
    std::string says;
};

// `words` is the line after "ponk"; its last element is the word at the cursor, maybe empty.
// `samples` is the packed gallery.
std::vector<Candidate> complete(const std::vector<std::string>& words,
                                std::string_view samples = {});

}  // namespace ponk::cli
