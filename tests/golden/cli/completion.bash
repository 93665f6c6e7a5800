# SPDX-License-Identifier: Apache-2.0
# bash completion for ponk: asks the program itself at each Tab
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
complete -F _ponk ponk
