// SPDX-License-Identifier: Apache-2.0
#include "config/script/modules.hpp"

#include "config/files/retired.hpp"

#include <algorithm>
#include <array>

namespace ponk::config {

namespace {

// Of Python 3.5 to 3.13; what the newest ones lack has a row among the old names. Sorted.
constexpr std::string_view standard_library[] = {
    "__future__",  "__main__",     "_thread",      "abc",          "aifc",        "argparse",
    "array",       "ast",          "asynchat",     "asyncio",      "asyncore",    "atexit",
    "audioop",     "base64",       "bdb",          "binascii",     "bisect",      "builtins",
    "bz2",         "cProfile",     "calendar",     "cgi",          "cgitb",       "chunk",
    "cmath",       "cmd",          "code",         "codecs",       "codeop",      "collections",
    "colorsys",    "compileall",   "concurrent",   "configparser", "contextlib",  "contextvars",
    "copy",        "copyreg",      "crypt",        "csv",          "ctypes",      "curses",
    "dataclasses", "datetime",     "dbm",          "decimal",      "difflib",     "dis",
    "distutils",   "doctest",      "email",        "encodings",    "ensurepip",   "enum",
    "errno",       "faulthandler", "fcntl",        "filecmp",      "fileinput",   "fnmatch",
    "fractions",   "ftplib",       "functools",    "gc",           "genericpath", "getopt",
    "getpass",     "gettext",      "glob",         "graphlib",     "grp",         "gzip",
    "hashlib",     "heapq",        "hmac",         "html",         "http",        "imaplib",
    "imghdr",      "imp",          "importlib",    "inspect",      "io",          "ipaddress",
    "itertools",   "json",         "keyword",      "lib2to3",      "linecache",   "locale",
    "logging",     "lzma",         "mailbox",      "mailcap",      "marshal",     "math",
    "mimetypes",   "mmap",         "modulefinder", "msilib",       "msvcrt",      "multiprocessing",
    "netrc",       "nis",          "nntplib",      "nt",           "ntpath",      "nturl2path",
    "numbers",     "opcode",       "operator",     "optparse",     "os",          "ossaudiodev",
    "pathlib",     "pdb",          "pickle",       "pickletools",  "pipes",       "pkgutil",
    "platform",    "plistlib",     "poplib",       "posix",        "posixpath",   "pprint",
    "profile",     "pstats",       "pty",          "pwd",          "py_compile",  "pyclbr",
    "pydoc",       "pydoc_data",   "pyexpat",      "queue",        "quopri",      "random",
    "re",          "readline",     "reprlib",      "resource",     "rlcompleter", "runpy",
    "sched",       "secrets",      "select",       "selectors",    "shelve",      "shlex",
    "shutil",      "signal",       "site",         "smtpd",        "smtplib",     "sndhdr",
    "socket",      "socketserver", "spwd",         "sqlite3",      "sre_compile", "sre_constants",
    "sre_parse",   "ssl",          "stat",         "statistics",   "string",      "stringprep",
    "struct",      "subprocess",   "sunau",        "symtable",     "sys",         "sysconfig",
    "syslog",      "tabnanny",     "tarfile",      "telnetlib",    "tempfile",    "termios",
    "textwrap",    "threading",    "time",         "timeit",       "tkinter",     "token",
    "tokenize",    "tomllib",      "trace",        "traceback",    "tracemalloc", "tty",
    "turtle",      "turtledemo",   "types",        "typing",       "unicodedata", "unittest",
    "urllib",      "uu",           "uuid",         "venv",         "warnings",    "wave",
    "weakref",     "webbrowser",   "winreg",       "winsound",     "wsgiref",     "xdrlib",
    "xml",         "xmlrpc",       "zipapp",       "zipfile",      "zipimport",   "zlib",
    "zoneinfo"};
static_assert(std::is_sorted(std::begin(standard_library), std::end(standard_library)));

// Whole modules, or single names of them (python/ has the files).
constexpr std::string_view in_every_run[] = {"ponk",
                                             "azureml.logging",
                                             "azureml.dataprep",
                                             "azureml.api.exceptions.BadRequest",
                                             "azureml.api.realtime.services",
                                             "azureml.api.schema.dataTypes",
                                             "azureml.api.schema.sampleDefinition",
                                             "azureml.assets",
                                             "azureml.datacollector",
                                             "azureml.sdk",
                                             "azureml.core.Run",
                                             "azureml.core.run",
                                             "azureml_sdk",
                                             "dataprep"};

struct Renamed {
    std::string_view module;
    std::string_view distribution;
};
constexpr Renamed distributions[] = {{"attr", "attrs"},
                                     {"azureml", "azureml-core"},
                                     {"bs4", "beautifulsoup4"},
                                     {"crypto", "pycryptodome"},
                                     {"docx", "python-docx"},
                                     {"dotenv", "python-dotenv"},
                                     {"fitz", "pymupdf"},
                                     {"git", "gitpython"},
                                     {"jwt", "pyjwt"},
                                     {"mpl-toolkits", "matplotlib"},
                                     {"pkg-resources", "setuptools"},
                                     {"psycopg2", "psycopg2-binary"},
                                     {"pylab", "matplotlib"},
                                     {"serial", "pyserial"},
                                     {"synapse", "synapseml"},
                                     {"wx", "wxpython"},
                                     {"zmq", "pyzmq"}};

}  // namespace

bool is_in_standard_library(std::string_view module)
{
    const auto top = module.substr(0, module.find('.'));
    return std::binary_search(std::begin(standard_library), std::end(standard_library), top);
}

bool is_in_every_run(std::string_view name)
{
    return std::any_of(
        std::begin(in_every_run), std::end(in_every_run), [name](std::string_view each) {
            const auto shorter = std::min(name.size(), each.size());
            const auto longer = name.size() > shorter ? name : each;
            return name.substr(0, shorter) == each.substr(0, shorter) &&
                   (longer.size() == shorter || longer[shorter] == '.');
        });
}

std::string distribution_of(std::string_view module)
{
    auto name = std::string(module.substr(0, module.find('.')));
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '_') c = '-';
    }
    // Those that people also write into lists of packages.
    if (const auto renamed = distribution_for_import(name); !renamed.empty())
        return std::string(renamed);
    for (const auto& each : distributions) {
        if (each.module == name) return std::string(each.distribution);
    }
    return name;
}

}  // namespace ponk::config
