// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ponk::output {

// What the place that output goes to can show. The default is a pipe: plain, and wide without end.
struct Terminal {
    int width = 0;  // columns; 0 means without end
    bool colour = false;
    bool utf8 = true;
};

// Looks at the descriptor and at COLUMNS, NO_COLOR, TERM, LC_ALL, LC_CTYPE and LANG. Width and
// colour are given only for a terminal; COLUMNS also sets the width of a pipe.
Terminal detect_terminal(int fd);

}  // namespace ponk::output
