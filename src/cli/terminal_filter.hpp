// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ponk::cli {

// Makes a script's bytes safe for a terminal while they stream: text, newlines, CR, BS, TAB and
// colours (SGR) pass, so progress bars work; every other control byte is shown as \x1b and the
// like, so a log can neither move the cursor about, rename the window nor type for the user.
// Sequences may be cut anywhere between calls.
class TerminalFilter {
public:
    void feed(std::string_view bytes, std::string& out);
    // At the end: shows what was held back as the start of a longer sequence.
    void finish(std::string& out);

private:
    std::string held_;
};

}  // namespace ponk::cli
