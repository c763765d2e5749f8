# Waste in the sample: duplicates, arrays, references, garbage.
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
heapdb query duplicates --limit 3
heapdb query duplicates --arrays --no-holders --min-count 10 --limit 2 --csv
heapdb query duplicates --strings --arrays || echo "exit $?"
heapdb query arrays --limit 3
heapdb query arrays --zero --limit 2
heapdb query arrays --constant --by value --limit 2 --json
heapdb query arrays --zero --empty || echo "exit $?"
heapdb query strings --by encoding
heapdb query strings --by prefix --prefix-length 4 --limit 2
heapdb query strings --by word || echo "exit $?"
heapdb query substrings --limit 2
heapdb query reference-stats --by strength
heapdb query reference-leaks --limit 2
heapdb query finalizers
heapdb query finalizers --state asleep || echo "exit $?"
heapdb query unreachable --by holder --limit 3
heapdb query unreachable 'java.lang.S*' --holders --limit 3
