# A look-up by a column returns the same rows as a scan: each comparison with a bound, with and without "+".
heapdb import "$DUMP" -o s.heapdb --quiet --sizes mat >/dev/null
statement=
while read -r column bound; do
	for operator in "<" "<=" "=" ">=" ">" "IS NULL --"; do
		with="$operator $bound"
		[ "$operator" != "IS NULL --" ] || with="IS NULL"
		statement="$statement${statement:+ UNION ALL }SELECT '$column $with' AS condition,
			(SELECT count(*) FROM objects WHERE $column $with) AS sought,
			(SELECT count(*) FROM objects WHERE +$column $with) AS scanned"
	done
done <<'END'
id 4272947200
retained 24
dominator 4272947200
shallow 24
END
heapdb sql "$statement" --csv
heapdb sql --all "$statement" --csv
