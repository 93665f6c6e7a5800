#compdef ponk
# SPDX-License-Identifier: Apache-2.0
# zsh completion for ponk: asks the program itself at each Tab
_ponk() {
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
if [[ ${funcstack[1]} == _ponk ]]; then
    _ponk "$@"
else
    compdef _ponk ponk
fi
