#!/bin/sh
# causes_test.sh - programs with one planted problem each (tests/java/Causes.java): leaks names the owner, the number of
# objects and the cause, from counts in the heap. For the same program without the problem it reports nothing. Needs JDK
# 17 or later.
# Slow: starts many JVMs.
set -eu
for tool in java javac; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
mkdir classes
javac -J-XX:TieredStopAtLevel=1 -nowarn -d classes \
	"$HDB_ROOT/tests/java/Causes.java" 2> javac.log || { echo "no JDK 17 here"; exit 77; }
failed=0 cases=0

# leaks_of CASE: writes leaks.txt and prints the text about the first suspect on one line
leaks_of() {
	java -XX:+UseSerialGC -Xmx400m -XX:-UsePerfData -cp classes Causes "$1" dump.hprof > java.log 2>&1 ||
		{ echo "FAILED: $1 does not run"; cat java.log; exit 1; }
	heapdb import dump.hprof -o dump.heapdb --force --quiet
	heapdb leaks dump.heapdb > all.txt
	sed -n '3,/^  What to do\|^$/p' all.txt | tr -s '\n ' ' ' > leaks.txt
	rm -f dump.hprof
}

while IFS='|' read -r name owner cause; do
	[ -n "$name" ] || continue
	# shellcheck disable=SC2254 # a pattern
	case $name in ${CAUSE:-*}) ;; *) continue ;; esac
	leaks_of "$name"
	# The references are in two static fields; the set that holds them is the first suspect.
	[ "$name" != refqueue ] || tr -s '\n ' ' ' < all.txt > leaks.txt
	grep -qF -- "$owner" leaks.txt || { echo "FAILED: $name: no \"$owner\""; cat leaks.txt; failed=1; }
	grep -qF -- "$cause" leaks.txt || { echo "FAILED: $name: no \"$cause\""; cat leaks.txt; failed=1; }
	leaks_of "$name-ok"
	if grep -E '\((leak|unbounded|misconfigured|large|by design)\)' leaks.txt; then
		echo "FAILED: $name-ok is explained"
		failed=1
	fi
	if grep -F -- "$cause" leaks.txt; then
		echo "FAILED: $name-ok has the same cause"
		failed=1
	fi
	cases=$((cases + 1))
done << 'CASES'
onebig|Causes$Country.codes (static) holds|One HashMap uses 3 of its 4,194,304 slots: 16.0 MiB are free slots.
enummap|holds 60,000 EnumMap|EnumMap each use 2 of 27 slots on average
grid|holds 1,000 Object[]|1,000 Object[] each use 3 of 2,000 slots on average
builders|holds 40 StringBuilder|40 StringBuilder each use 5 of 300,000 slots on average
streams|holds 400 ByteArrayOutputStream|ByteArrayOutputStream each use 100 of 30,000 slots on average
presized|holds 6,000 ArrayList|ArrayList each use 3 of 501 slots on average
presizedmaps|holds 6,000 HashMap|HashMap each use 2 of 512 slots on average
equalbytes|holds 1,500 byte[]|1,500 of its strings and arrays have equal contents, such as byte[8000], 1,500 times
equalstrings|holds 150,000 Causes$Order|At least 140,000 of its strings and arrays have equal contents, such as "WAIT
zeros|holds 1,500 byte[]|1,500 arrays of zeros, such as byte[8000]
tenant|holds 12,000 entries|86 % of the 12,000 entries have the prefix tenant-17
field|holds 200,000 Causes$Order|86 % of the 200,000 entries have the customer
outbox|holds 15,000 elements|An unbounded ConcurrentLinkedQueue has 15,000 elements
cancelled|12,000 ScheduledThreadPoolExecutor$ScheduledFuture|All 12,000 tasks are cancelled
timer|Causes$Clock.timer (static)|12,000 tasks are cancelled
futures|Causes$Requests.pending (static) holds 12,000|12,000 CompletableFutures are not completed, and actions wait
keys|holds 12,000 entries|Of the 12,000 keys (Causes$Key) of a HashMap, 99 % have the same field
board|Causes$Tickets.waiting (static) holds 12,000|Causes$Ticket.status is SHIPPED
audit|Causes$Tenants.audit (static) holds 30,000 Causes$Entity|one entry of a map, tenant-17
lru|Causes$Lru.pages|One of its collections is full: Causes$Lru.max is 12,000, and it has 12,000 entries.
changedkeys|Causes$Slots.all (static) holds 12,000|Of the 12,000 keys (Causes$Slot) of a ConcurrentHashMap, 5
changedlists|Causes$Slots.routes (static) holds 12,000|Of the 12,000 keys (ArrayList) of a HashSet, 99 % were
refqueue|holds 60,000 PhantomReference|60,000 references (PhantomReference) wait in a ReferenceQueue
cleaner|8,000 Causes$Native|A Cleaner never cleans 8,000 objects (Causes$Native)
sublist|holds 300 ArrayList$SubList|300 views (ArrayList$SubList) each show part of a list
slice|holds 150 HeapCharBuffer|150 views (HeapCharBuffer) each show part
heads|holds 200 HeapByteBuffer|200 views (HeapByteBuffer) each show part
exceptions|holds 8,000 IllegalStateException|8,000 exceptions (IllegalStateException) with their stack traces
suppressed|holds 8,000 Exception|up to 8,000 of them suppressed by a single one
boxed|holds 200,000 entries|400,000 boxed numbers
boxedlist|holds 400,000 Long|400,000 boxed numbers (Long)
emptymaps|holds 120,000 LinkedHashMap|120,000 of its collections (LinkedHashMap) are empty
soft|holds 10,000 entries|95 % of it is held by SoftReferences
flow|holds 12,000 items for one subscriber|which requests no more at present
matcher|holds 100 Matcher|input text that Matchers keep
expired|Causes$Tokens.all (static) holds 20,000 Causes$Token|99 % have expired (Causes$Token.expiresAt)
form|Causes$Metrics.timers (static) holds 12,000|99 % have the form requests{uri=/orders/*}
inner|Causes$Favorites.hits (static) holds 150 Causes$Page$Hit|outer objects (Causes$Page) that inner objects keep
formats|Causes$Reports2.columns (static) holds 8,000|DecimalFormat objects, one in each owner (Causes$Column.format)
weakmap|Causes$Styles.cache (static) holds 12,000|12,000 entries with weak keys (WeakHashMap$Entry) can never be removed
steps|Causes$Steps.|CompletableFutures wait for one another
periodic|Causes$Scheduler.pool (static)|3,000 tasks of a scheduler or timer are periodic
noconsumer|Causes$Audit.queue (static) holds 11,999|no thread is in a method that uses it
bits|Causes$Seen.numbers (static) holds one long[|are zeros
monitor|40 threads "stock-*"|for the monitor of Causes$Stock, held by thread "stock-0"
condition|40 threads "put-*"|for the condition Causes$Warehouse.notFull
urls|Causes$Metrics.timers (static) holds 12,000|99 % have one of 2 forms, such as https://shop/cart?sid=*
interner|Causes$Names.pool (static) holds 60,000|Nothing else refers to 99 % of them
days|Causes$Daily.byDay (static) holds 400|The 400 keys are dates up to the day of the dump
versions|Causes$Config.history (static) holds 400|versions 1 to 400 (Causes$Version.version)
undo|Causes$Undo.texts (static) holds 200|that differ from another array in only a few elements
smallmaps|Causes$Graph.attributes (static) holds 30,000|have few elements (HashMap, 1 on average)
tenantqueue|holds 9,000 elements of a ConcurrentLinkedQueue|It belongs to the map entry tenant-17
allof|Causes$Requests.pending (static)|have not completed: 1.
deepcauses|Causes.kept (static)|It is 30,000 exceptions (Exception)
labels|Causes$Meters.all (static) holds 60,000|Causes$Meter.count is 1. The keys (Causes$MeterId) combine
entities|Causes$Unit.entities (static) holds 12,000|No entry was ever removed from the LinkedHashMap.
answers|Causes$Results.all (static) holds 12,000|The 12,000 CompletableFutures are completed
states|Causes$Undos.states (static) holds|versions of the same collection
works|Causes$Works.all (static) holds 12,000|In 99 % of the 12,000 entries, Causes$Work.step is DONE
uploads|Causes$Uploads.all (static) holds 12,000|Causes$Upload.finishedAt is not set
filters|Causes$Filter|form a chain: each holds the next in the field next
samples|Causes$Samples.byTime (static) holds 12,000|The keys are points in time, the oldest of them 8 days before
uuids|Causes$Seen2.ids (static) holds 60,000|The keys are UUIDs.
retries|Causes$Mail.retries (static) holds 12,000|tried 20 times or more (Causes$Retry.attempts)
topic|holds 12,000 byte[]|nothing removes the added elements: Causes$Topic.enqueued is 12,000, and dequeued is 0
pipe|holds 12,000 byte[]|Far more is added than removed: Causes$Pipe.messagesWritten is 12,003, and messagesRead is 3
store|Causes$Store.pages|No limit is set for Causes$Store.pages: Causes$Store.timeToLive is 0
visits|holds 12,000 Causes$Visit|Causes$Visits.byId (static)
parcels|Causes$Depot.parcels (static) holds 12,000|the oldest from 2 hours before the dump (Causes$Parcel
timers|holds 120|There are 120 java.util.Timers, each with a thread
engines|holds 300 Causes$Script|Each of the 300 objects has its own Causes$Engine (Causes$Script.engine)
history|Causes$Shop.history|Causes$Shop.history keeps all 12,000 that were added
CASES
# explain adds the number to the owner.
java -XX:+UseSerialGC -Xmx400m -XX:-UsePerfData -cp classes Causes inner dump.hprof > java.log
heapdb import dump.hprof -o dump.heapdb --force --quiet
heapdb explain dump.heapdb | grep -qF 'Favorites.hits (static), 150 entries' ||
	{ echo "FAILED: explain"; failed=1; }
rm -f dump.hprof
# Values removed from a dump do not count as arrays of zeros.
java -XX:+UseSerialGC -Xmx400m -XX:-UsePerfData -cp classes Causes equalbytes-ok dump.hprof
heapdb redact dump.hprof redacted.hprof
if heapdb leaks redacted.hprof | grep -e zeros -e equal; then
	echo "FAILED: values that were removed are explained"
	failed=1
fi
echo "$cases problems and as many programs without one"
exit $failed
