#compdef fcompile fcontroller kubectl-fcompile
# Completion of fcompile and fcontroller for zsh.

_fcompile() {
    local -a answer candidates options
    local directive candidate value
    answer=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    directive=${answer[-1]#:}
    answer[-1]=()
    [[ $directive == <-> ]] || return 1
    [[ $PREFIX == -*=* ]] && compset -P 1 '*='
    if (( directive & 24 )); then # paths
        if (( directive & 16 )); then _files -/; else _files -g "*.(${(j:|:)answer})(-.)"; fi
        return
    fi
    for candidate in $answer; do
        value=${candidate%%$'\t'*}
        # What is described follows after a colon.
        [[ $candidate == *$'\t'* ]] && candidates+=("${value//:/\\:}:${candidate#*$'\t'}") || candidates+=("${value//:/\\:}")
    done
    (( directive & 2 )) && options=(-S '')
    _describe -V 'fcompile' candidates "${options[@]}"
}

if [[ $funcstack[1] == _fcompile ]]; then # read from a folder of $fpath
    _fcompile "$@"
else
    compdef _fcompile fcompile fcontroller kubectl-fcompile
fi
