# Completion of heapdb for fish. Names come from `heapdb help --names`: kind, owner, name,
# argument, help and of options of queries the type, separated by tabs.

function __heapdb_names --argument-names kind owner
    heapdb help --names 2>/dev/null | awk -F '\t' -v kind="$kind" -v owner="$owner" '
        $1 == kind && $2 == owner { print $3 "\t" $5 }'
end

function __heapdb_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

# The options of a command, and of a query, but those that it does not take.
function __heapdb_options --argument-names owner query
    heapdb help --names 2>/dev/null | awk -F '\t' -v owner="$owner" -v query="query $query" '
        $1 == "untaken" && $2 == query { untaken[$3] = 1 }
        $1 == "option" && ($2 == owner || $2 == query) { names[++n] = $3; helps[n] = $5 }
        END { for (i = 1; i <= n; i++) if (!(names[i] in untaken)) print names[i] "\t" helps[i] }'
end

# The query that the line asks, if it names one.
function __heapdb_query
    set -l words (commandline -opc)
    switch (__heapdb_command)
        case info check diff
            __heapdb_command
        case (__heapdb_names query query | string split -f 1 \t)
            __heapdb_command
        case query export
            set -l known objects (__heapdb_names query query | string split -f 1 \t)
            for word in $words[3..-1]
                if contains -- $word $known
                    echo $word
                    return
                end
            end
    end
end

function __heapdb_words
    set -l words (commandline -opc)
    if test (count $words) -lt 2
        __heapdb_names command -
        __heapdb_names query query
        string match -q -- '*[./]*' (commandline -ct); and __fish_complete_path (commandline -ct)
        return
    end
    set -l owner $words[2]
    # The name of a query is a command.
    contains -- $owner (__heapdb_names query query | string split -f 1 \t); and set owner query
    set -l query (__heapdb_query)
    # A way of use with options of its own, as "export dump".
    if contains -- "$words[3]" (__heapdb_names command $owner | string split -f 1 \t)
        set owner "$owner $words[3]"
    end
    set -l last $words[-1]
    # What the option before the cursor takes.
    if string match -q -- '--*' $last
        set -l argument (heapdb help --names 2>/dev/null | awk -F '\t' -v a="$owner" \
            -v b="query $query" -v name="$last" '
            $1 == "option" && ($2 == a || $2 == b) && $3 == name { print ($6 ~ /^(choice|flag)?$/ ? $4 : "TEXT"); exit }')
        switch "$argument"
            case FILE PATH
                __fish_complete_path (commandline -ct)
                return
            case '*|*'
                string split '|' -- $argument
                return
            case '?*'
                return
        end
    end
    if string match -q -- '-*' (commandline -ct)
        __heapdb_options "$owner" "$query"
        return
    end
    switch $owner
        case import report diff convert strip redact sql
            __fish_complete_path (commandline -ct)
        case capture
            heapdb capture --csv --columns pid,main_class 2>/dev/null | tail -n +2 | tr , \t
        case notes
            if test (count $words) -eq 2
                printf '%s\n' list add remove
            else
                __fish_complete_path (commandline -ct)
            end
        case mcp fleet
            __fish_complete_directories (commandline -ct)
        case query
            if test -n "$query"
                __fish_complete_path (commandline -ct)
            else
                __heapdb_names query query
            end
        case info check serve
            __fish_complete_path (commandline -ct)
        case export
            test -n "$query"; or begin; echo objects; echo refs; echo classes; __heapdb_names command export; __heapdb_names query query; end
        case help
            if test (count $words) -eq 2
                __heapdb_names command -
                __heapdb_names query query
            else if test "$last" = query
                __heapdb_names query query
            end
    end
end

complete -c heapdb -f -a '(__heapdb_words)'
