// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

namespace ponk::cli {
namespace {

// bash cuts words at '=' and ':'; they are put together again before asking.
constexpr std::string_view bash_script = R"(# SPDX-License-Identifier: Apache-2.0
# bash completion for ponk: asks the program itself at each Tab
_ponk() {
    local program=${COMP_WORDS[0]} words=() word line join= i
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && ( $word == [=:] || $join == yes ) ]]; then
            words[${#words[@]} - 1]+=$word
            [[ $word == [=:] ]] && join=yes || join=
        else
            words+=("$word")
            join=
        fi
    done
    local current=${words[${#words[@]} - 1]} cut=
    [[ $current == *[=:]* ]] && cut=${current%"${current##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :file)
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                # A name with a newline comes as two that are not there.
                [[ $word == \~* || -e $word || -L $word ]] && COMPREPLY+=("$word")
            done < <(compgen -f -- "${current#"$cut"}") ;;
        :folder)
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                # A name with a newline comes as two that are not there.
                [[ $word == \~* || -e $word || -L $word ]] && COMPREPLY+=("$word")
            done < <(compgen -d -- "${current#"$cut"}") ;;
        ?*)
            word=${line%%$'\t'*}
            COMPREPLY+=("${word#"$cut"}") ;;
        esac
    done < <("$program" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _ponk ponk
)";

constexpr std::string_view zsh_script = R"(#compdef ponk
# SPDX-License-Identifier: Apache-2.0
# zsh completion for ponk: asks the program itself at each Tab
_ponk() {
    local line name
    local -a lines described
    lines=("${(@f)$("${words[1]}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    for line in "${lines[@]}"; do
        case $line in
        :file) _files ;;
        :folder) _files -/ ;;
        ?*)
            name=${${line%%$'\t'*}//:/\\:}
            if [[ $line == *$'\t'* ]]; then
                described+=("$name:${line#*$'\t'}")
            else
                described+=("$name")
            fi ;;
        esac
    done
    (( ${#described} )) && _describe -t ponk 'ponk' described
}
if [[ ${funcstack[1]} == _ponk ]]; then
    _ponk "$@"
else
    compdef _ponk ponk
fi
)";

constexpr std::string_view fish_script = R"(# SPDX-License-Identifier: Apache-2.0
# fish completion for ponk: asks the program itself at each Tab
function __ponk_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    for line in ($program __complete -- $words "$current" 2>/dev/null)
        switch $line
            case ':file'
                __fish_complete_path "$current"
            case ':folder'
                __fish_complete_directories "$current" ''
            case '*'
                echo $line
        end
    end
end
complete -c ponk -f -a '(__ponk_complete)'
)";

}  // namespace

std::string completion_script(std::string_view shell)
{
    if (shell == "zsh") return std::string(zsh_script);
    if (shell == "fish") return std::string(fish_script);
    return std::string(bash_script);
}

}  // namespace ponk::cli
