// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>

namespace ponk::cli {

// What may pass besides text, newlines and TAB.
enum class Passing {
    text,     // nothing: what is printed has no colours of our own
    colours,  // colours (SGR): what is printed is made by output/, which shows other controls
    log,      // colours, CR and BS, so progress bars of scripts work
    all,      // our own screens
};

// Makes bytes safe for a terminal while they stream: every control that may not pass is shown as
// \x1b and the like, and so are characters that change the direction of text (\u202e), so nothing
// printed can move the cursor about, rename the window, fill the clipboard or type for the user.
// Sequences may be cut anywhere between calls.
class TerminalFilter {
public:
    explicit TerminalFilter(Passing passing = Passing::log) : passing_(passing) {}

    void feed(std::string_view bytes, std::string& out);
    // At the end: shows what was held back as the start of a longer sequence.
    void finish(std::string& out);

private:
    [[nodiscard]] bool passes(unsigned char byte) const;

    Passing passing_;
    std::string held_;
};

// All that the command line prints goes through here: filtered to a terminal, byte for byte to a
// file or a pipe. The text is whole: no sequence goes on in the next call.
Result<> write_out(int fd, std::string_view text, Passing passing);
// The same on standard output.
Result<> print_text(std::string_view text, Passing passing = Passing::colours);

}  // namespace ponk::cli
