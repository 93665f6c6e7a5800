# SPDX-License-Identifier: Apache-2.0
# fish completion for ponk: asks the program itself at each Tab
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
complete -c ponk -f -a '(__ponk_complete)'
