# Completion of fcompile and fcontroller for fish.

function __fcompile_complete
    set -l words
    if commandline -x >/dev/null 2>&1 # fish 4, with variables and ~ expanded
        set words (commandline -xpc)
    else
        set words (commandline -opc)
        set words[1] (string replace -r '^~/' "$HOME/" -- $words[1])
    end
    set -l token (commandline -ct)
    # Within quotes that are open still, there is nothing to unescape.
    set -l current (string unescape -- $token; or string replace -r '^[\'"]' '' -- $token)
    set -l answer (command $words[1] __complete $words[2..-1] "$current" 2>/dev/null </dev/null)
    set -l directive (string replace -r '^:' '' -- $answer[-1])
    set -e answer[-1]
    switch "$directive"
        case 8 # folders, and files that end so, before other files
            # What fish offers for a command that nobody has told it of: files.
            set -l files (complete -C "__fcompile_of_files $token")
            string match -r '^[^\t]*(?:/|\.(?:'(string join '|' $answer)'))(?:\t.*)?$' -- $files
            or string join \n -- $files
        case 16
            complete -C "__fcompile_of_files $token" | string match -r '^[^\t]*/(?:\t.*)?$'
        case '*'
            # Of `--option=value`, the answer is the value.
            string join \n -- (string match -r '^-[^=]*=' -- $token)$answer
            or string join \n -- $answer
    end
end

for program in fcompile fcontroller kubectl-fcompile
    complete -c $program -f -k -a '(__fcompile_complete)'
end
