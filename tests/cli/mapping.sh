# Names of a mapping file of ProGuard or R8: in lists, as targets, in stacks; after the dump changes.
cat >m.txt <<'END'
# compiler: R8
com.acme.Main -> Sample:
# {"id":"sourceFile","fileName":"Main.kt"}
    com.acme.Main instance -> kept
    1:9999:void com.acme.Util.run(int):5:5 -> main
    1:9999:void start(java.lang.String[]):1001:10999 -> main
com.acme.Customer -> Sample$Customer:
    java.lang.String fullName -> name
END
cp "$DUMP" x.hprof
heapdb import x.hprof --quiet --mapping m.txt >/dev/null
heapdb query histogram 'com.acme.*' --columns name,objects --format csv
heapdb query class com.acme.Customer --columns declared_in,field --format csv | grep -v resolved
heapdb query threads main --columns level,kind,text --format csv | grep acme |
	sed 's/start:[0-9]*/start:N/; s/:[0-9]*)/:N)/'
id=$(heapdb query instances com.acme.Main --columns id --format csv | tail -n 1)
heapdb query path "com.acme.Main@$id" --columns label,via_field --format csv
heapdb info | grep -c mapped
# shellcheck disable=SC2016
heapdb query histogram 'Sample$Customer' 2>&1
printf 'END' >>x.hprof
heapdb query histogram 'com.acme.*' --db x.hprof --columns name,objects --format csv 2>&1
heapdb import x.hprof -o y.heapdb --mapping no.txt 2>&1
echo "exit $?"
echo 'a b' >bad.txt
heapdb import x.hprof -o y.heapdb --mapping bad.txt 2>&1
echo "exit $?"
ls
