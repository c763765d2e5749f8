# Completion of heapdb for fish. `heapdb --complete WORD...` says what may stand at the end of the
# line: a word and what it is, separated by a tab, or what the shell lists itself.

function __heapdb_words
    set -l typed (commandline -ct)
    set -l words (commandline -opc) "$typed"
    for line in (heapdb --complete $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$typed" | string match -v -r '\.heapdb-lock(\t|$)'
            case :folders
                __fish_complete_directories "$typed"
            case :processes
                heapdb capture --csv --columns pid,main_class 2>/dev/null | tail -n +2 | tr , \t
            case '*'
                echo $line
        end
    end
end

complete -c heapdb -f -a '(__heapdb_words)'
