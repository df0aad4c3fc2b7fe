# Completion of fcompile and fcontroller for bash 4.4 and newer.

_fcompile() {
    local answer=() directive line=${COMP_LINE:0:COMP_POINT}
    COMPREPLY=()
    # bash takes words apart at `=` and leaves quotes in them: the program gets the line, and what of it is to be replaced.
    mapfile -t answer < <("${1/#\~/$HOME}" __complete_line "$line" "$2" 2>/dev/null </dev/null)
    ((${#answer[@]})) || return 0
    directive=${answer[-1]#:}
    [[ $directive == +([0-9]) ]] || return 0
    unset 'answer[-1]'
    if ((directive & 8)); then # folders, and files that end so
        compopt -o filenames
        mapfile -t COMPREPLY < <(
            local ending
            compgen -d -- "$2"
            for ending in "${answer[@]}"; do compgen -f -X "!*.$ending" -- "$2"; done
        )
        ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$2")
    elif ((directive & 16)); then # folders
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$2")
    elif ((${#answer[@]})); then
        compopt -o nosort
        ((directive & 2)) && compopt -o nospace
        COMPREPLY=("${answer[@]%%$'\t'*}")
        case ${line%"$2"} in
        *[\'\"]) ;; # within quotes
        *) mapfile -t COMPREPLY < <(printf '%q\n' "${COMPREPLY[@]}") ;;
        esac
    fi
}

complete -F _fcompile fcompile fcontroller kubectl-fcompile
