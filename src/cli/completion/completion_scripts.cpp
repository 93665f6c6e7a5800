// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/completion.hpp"

namespace ponk::cli {
namespace {

// @NAME@ is the command that is completed, ponk or az. Under the name az only 'az ml …' is ours,
// and our own question has to begin with ml too, or it would be handed to the real az.
//
// bash cuts words at '=' and ':'; they are put together again before asking.
constexpr std::string_view bash_script = R"(# SPDX-License-Identifier: Apache-2.0
# bash completion for @NAME@: asks the program itself at each Tab
_ponk() {
    local ask=("${COMP_WORDS[0]}") words=() word line join= i
    COMPREPLY=()
    if [[ ${ask[0]##*/} == az ]]; then
        if ((COMP_CWORD == 1)); then
            [[ ml == "${COMP_WORDS[1]}"* ]] && COMPREPLY=(ml)
            return
        fi
        [[ ${COMP_WORDS[1]} == ml ]] || return
        ask+=(ml)
    fi
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
    done < <("${ask[@]}" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _ponk @NAME@
)";

constexpr std::string_view zsh_script = R"(#compdef @NAME@
# SPDX-License-Identifier: Apache-2.0
# zsh completion for @NAME@: asks the program itself at each Tab
_@NAME@() {
    local line name
    local -a ask lines described
    ask=("${words[1]}")
    if [[ ${words[1]:t} == az ]]; then
        if (( CURRENT == 2 )); then
            compadd ml
            return
        fi
        [[ ${words[2]} == ml ]] || return 1
        ask+=(ml)
    fi
    lines=("${(@f)$("${ask[@]}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
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
if [[ ${funcstack[1]} == _@NAME@ ]]; then
    _@NAME@ "$@"
else
    compdef _@NAME@ @NAME@
fi
)";

constexpr std::string_view fish_script = R"(# SPDX-License-Identifier: Apache-2.0
# fish completion for @NAME@: asks the program itself at each Tab
function __ponk_complete
    set -l words (commandline -opc)
    set -l ask $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    if string match -qr '(^|/)az$' -- $ask
        if test (count $words) -eq 0
            echo ml
            return
        end
        test $words[1] = ml; or return
        set ask $ask ml
    end
    for line in ($ask __complete -- $words "$current" 2>/dev/null)
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
complete -c @NAME@ -f -a '(__ponk_complete)'
)";

}  // namespace

std::string completion_script(std::string_view shell, std::string_view name)
{
    constexpr std::string_view mark = "@NAME@";
    std::string script(shell == "zsh" ? zsh_script : shell == "fish" ? fish_script : bash_script);
    for (std::size_t at = 0; (at = script.find(mark, at)) != script.npos; at += name.size())
        script.replace(at, mark.size(), name);
    return script;
}

}  // namespace ponk::cli
