// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

// The types of compute targets. A new type is a row of the table here, an executor of its name in
// the daemon, and what CONTRIBUTING.md lists under "A new kind of target".
namespace ponk::model {

enum class TargetType { local, localdocker, remotedocker, remote, cluster, slurm, batchai };

struct TargetTraits {
    TargetType type;
    // The first is the type's own, and the name of its executor; the others are synonyms of
    // earlier and later builds. Empty: no more (written, as GCC 12 needs it).
    std::string_view words[3];
    enum class Where { here, host, login_node, service } where;
    enum class How { process, container, scheduler } how;
    enum class Served { yes, not_yet, never } served;

    [[nodiscard]] constexpr std::string_view name() const { return words[0]; }
};

// In the order of the enumeration.
inline constexpr TargetTraits target_types[] = {
    {TargetType::local,
     {"local", "", ""},
     TargetTraits::Where::here,
     TargetTraits::How::process,
     TargetTraits::Served::yes},
    {TargetType::localdocker,
     {"localdocker", "docker", ""},
     TargetTraits::Where::here,
     TargetTraits::How::container,
     TargetTraits::Served::yes},
    {TargetType::remotedocker,
     {"remotedocker", "virtualmachine", "vm"},
     TargetTraits::Where::host,
     TargetTraits::How::container,
     TargetTraits::Served::yes},
    {TargetType::remote,
     {"remote", "", ""},
     TargetTraits::Where::host,
     TargetTraits::How::process,
     TargetTraits::Served::yes},
    {TargetType::cluster,
     {"cluster", "hdinsight", ""},
     TargetTraits::Where::login_node,
     TargetTraits::How::scheduler,
     TargetTraits::Served::not_yet},
    {TargetType::slurm,
     {"slurm", "", ""},
     TargetTraits::Where::login_node,
     TargetTraits::How::scheduler,
     TargetTraits::Served::yes},
    {TargetType::batchai,
     {"batchai", "", ""},
     TargetTraits::Where::service,
     TargetTraits::How::scheduler,
     TargetTraits::Served::never},
};

constexpr const TargetTraits& traits_of(TargetType type)
{
    return target_types[static_cast<std::size_t>(type)];
}

constexpr std::size_t count_target_words()
{
    std::size_t count = 0;
    for (const auto& traits : target_types)
        for (const auto word : traits.words)
            if (!word.empty()) ++count;
    return count;
}

constexpr auto list_target_words()
{
    std::array<std::string_view, count_target_words()> out;
    std::size_t at = 0;
    for (const auto& traits : target_types)
        for (const auto word : traits.words)
            if (!word.empty()) out[at++] = word;
    return out;
}

// All words of all types, for lists of what may be written.
inline constexpr auto target_type_words = list_target_words();

const char* to_string(TargetType type);
// Letters of any case; a synonym counts.
std::optional<TargetType> target_type_from(std::string_view word);

// The script is a process, or in a container; on this machine, or on a host by SSH.
constexpr bool is_process_here(TargetType type)
{
    const auto& traits = traits_of(type);
    return traits.where == TargetTraits::Where::here && traits.how == TargetTraits::How::process;
}
constexpr bool is_process(TargetType type)
{
    return traits_of(type).how == TargetTraits::How::process;
}
constexpr bool uses_docker(TargetType type)
{
    return traits_of(type).how == TargetTraits::How::container;
}
// By itself, or by way of a login node (which may be this machine).
constexpr bool uses_ssh(TargetType type)
{
    const auto where = traits_of(type).where;
    return where == TargetTraits::Where::host || where == TargetTraits::Where::login_node;
}
// Runs can go there.
constexpr bool is_served(TargetType type)
{
    return traits_of(type).served == TargetTraits::Served::yes;
}

}  // namespace ponk::model
