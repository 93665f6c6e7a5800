// SPDX-License-Identifier: Apache-2.0
#include "environment/build/image_probe.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "os/wait.hpp"

#include <algorithm>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;
constexpr int most_lines = 100'000;

// Images of 2017 carry conda in a home folder that is on nobody's PATH. Every line begins with a
// word of its own, because an image's own start-up may print too.
constexpr const char* script = R"sh(
for name in micromamba mamba conda; do
    path=$(command -v $name 2>/dev/null) && echo "ponk-probe conda $name $path"
done
for path in /opt/conda/bin/conda /opt/*conda*/bin/conda /usr/local/*conda*/bin/conda \
            /home/*/anaconda*/bin/conda /home/*/miniconda*/bin/conda /root/*conda*/bin/conda \
            /anaconda/bin/conda; do
    [ -x "$path" ] && echo "ponk-probe conda conda $path"
done
for name in python$1 python3 python; do
    path=$(command -v $name 2>/dev/null) || continue
    "$path" -c 'import sys
try:
    import venv, ensurepip
    able = "venv"
except ImportError:
    able = "bare"
print("ponk-probe python %d.%d.%d %s %s" % (sys.version_info[:3] + (able, sys.argv[1])))' "$path"
done
echo "ponk-probe glibc $(getconf GNU_LIBC_VERSION 2>/dev/null)"
echo "ponk-probe free $(df -Pk / 2>/dev/null | tail -n 1)"
echo "ponk-probe end"
)sh";

// Gone when we are done with it, however that ends.
class ProbeContainer {
public:
    ProbeContainer(const dockerapi::Engine& engine, std::string name)
        : engine_(engine), name_(std::move(name))
    {
    }
    ~ProbeContainer()
    {
        static_cast<void>(dockerapi::remove_container(engine_, name_, after(patience)));
    }
    ProbeContainer(const ProbeContainer&) = delete;
    ProbeContainer& operator=(const ProbeContainer&) = delete;

private:
    const dockerapi::Engine& engine_;
    std::string name_;
};

bool means_no_shell(const Error& error)
{
    const auto& text = error.message();
    return text.find("executable file not found") != std::string::npos ||
           text.find("no such file or directory") != std::string::npos;
}

}  // namespace

ImageFacts parse_probe(std::string_view output)
{
    ImageFacts facts;
    for (const auto& line : split(output, '\n')) {
        const auto begin = line.find("ponk-probe ");
        if (begin == std::string::npos) continue;
        std::vector<std::string> words;
        for (const auto& word : split(trim(line.substr(begin)), ' '))
            if (!word.empty()) words.push_back(word);
        if (words.size() == 2 && words[1] == "end") facts.has_shell = true;
        if (words.size() < 4) continue;
        if (words[1] == "conda") {
            const auto builder = words[2] == "micromamba" ? Builder::micromamba
                                 : words[2] == "mamba"    ? Builder::mamba
                                                          : Builder::conda;
            facts.conda.push_back({builder, words[3]});
        } else if (words[1] == "python" && words.size() >= 5) {
            facts.pythons.push_back({words[4], words[2], words[3] == "venv"});
        } else if (words[1] == "glibc") {
            facts.glibc = words[3];
        } else if (words[1] == "free" && words.size() >= 6) {
            const auto blocks = parse_integer(words[5]);
            if (blocks && *blocks > 0)
                facts.free_space = static_cast<std::uint64_t>(*blocks) * 1024;
        }
    }
    return facts;
}

Result<std::optional<std::string>> ask_image(const dockerapi::Engine& engine,
                                             const std::string& image,
                                             const std::vector<std::string>& words,
                                             std::stop_token stop)
{
    const auto what = while_doing("inspect the image '{}'", printable(image));
    dockerapi::ContainerSpec spec;
    spec.name = "ponk-probe-" + to_hex(random_bytes(8));
    spec.image = image;
    spec.command = words;
    spec.network = "none";
    spec.user = "0:0";
    spec.labels = {{"ponk.probe", "1"}};
    TRY(create_container(engine, spec, after(patience), stop).map_error(what));
    const ProbeContainer container(engine, spec.name);
    if (const auto started = start_container(engine, spec.name, after(patience), stop); !started) {
        if (means_no_shell(started.error())) return std::nullopt;
        return tl::unexpected(what(started.error()));
    }
    const auto deadline = after(patience);
    for (;;) {
        const auto now = TRY(find_container(engine, spec.name, after(patience), stop));
        if (!now || (!now->running && now->status != "created")) break;
        if (Deadline::clock::now() > deadline)
            return fail(ErrorKind::timeout, "a shell in the image '{}' does not end", image);
        if (!os::sleep_for(20ms, stop))
            return fail(ErrorKind::cancelled, "stopped while inspecting '{}'", image);
    }
    return TRY(tail_of_log(engine, spec.name, most_lines, after(patience), stop));
}

Result<ImageFacts> probe_image(const dockerapi::Engine& engine,
                               const std::string& image,
                               const std::string& series,
                               std::stop_token stop)
{
    const auto text =
        TRY(ask_image(engine, image, {"/bin/sh", "-c", script, "probe", series}, std::move(stop)));
    return text ? parse_probe(*text) : ImageFacts{};
}

}  // namespace ponk::environment
