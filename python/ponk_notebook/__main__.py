# SPDX-License-Identifier: Apache-2.0
import sys


def main():
    if sys.version_info < (3, 5):
        sys.exit("ponk: notebooks need Python 3.5 or newer, and this is " + sys.version.split()[0])
    from ponk_notebook import _start
    _start.main(sys.argv[1:])


if __name__ == "__main__":
    main()
