# Completes command lines of fumehood: the program itself says what a word can become.
function __fumehood_complete
    set -l words (commandline -opc)
    set -l last (string unescape -- (commandline -ct))
    set -l program $words[1]
    set -e words[1]
    for line in ($program help --complete -- $words "$last" 2>/dev/null)
        set -l kept (string split -m 1 \t -- $line)[2]
        set -l rest (string sub -s (math (string length -- "$kept") + 1) -- "$last")
        switch $line
            case ':files*'
                __fish_complete_path "$rest" | string replace -r '^' -- "$kept"
            case ':folders*'
                __fish_complete_directories "$rest" | string replace -r '^' -- "$kept"
            case '*'
                echo $line
        end
    end
end
complete -c fumehood -f -a '(__fumehood_complete)'
