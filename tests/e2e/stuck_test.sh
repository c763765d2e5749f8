#!/bin/sh
# stuck_test.sh - threads that cannot continue (tests/java/Stuck.java): the overview, leaks and triage name them, what
# they wait for and the thread that holds it, and nothing of the kind for healthy threads that wait. Needs JDK 17 or
# later.
# Slow: starts many JVMs.
set -eu
for tool in java javac; do
	command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
cd "$TMPDIR"
mkdir classes
javac -J-XX:TieredStopAtLevel=1 -nowarn -d classes "$HDB_ROOT"/tests/java/okio/Source.java \
	"$HDB_ROOT/tests/java/Stuck.java" 2> javac.log ||
	{ echo "no JDK 17 here"; exit 77; }
mv classes/Stuck?Odd_Limit.class "classes/Stuck\$Odd(Limit.class"
for file in classes/Stuck*.class; do
	LC_ALL=C sed -i 's/Odd_Limit/Odd(Limit/g' "$file"
done
failed=0

# screen_of CASE: writes the overview to screen.txt, each text on one line
screen_of() {
	java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp classes Stuck "$1" dump.hprof \
		> java.log 2>&1 ||
		{ echo "FAILED: $1 does not run"; cat java.log; exit 1; }
	heapdb import dump.hprof -o dump.heapdb --force --quiet 2> import.log
	heapdb overview dump.heapdb --json | tr -s ' \n' ' ' > screen.txt
	heapdb triage dump.heapdb | grep -q '^  rule:    stuck-threads' && echo stuck-threads >> screen.txt
	rm -f dump.hprof
}

while IFS='|' read -r name triage text target; do
	screen_of "$name"
	grep -qF -- "$text" screen.txt || { echo "FAILED: $name: no \"$text\""; cat screen.txt; failed=1; }
	grep -qF -- "\"target\":\"$target\"" screen.txt ||
		{ echo "FAILED: $name: no \"$target\""; cat screen.txt; failed=1; }
	[ "$(grep -c stuck-threads screen.txt)" = "$triage" ] || { echo "FAILED: $name: triage"; failed=1; }
done << 'CASES'
convoy|1|they wait for the monitor of Stuck$Prices, held by thread \"refresh\" in Stuck$Prices.receive|refresh
convoy|1|6 threads \"http-*\" are blocked in Stuck$Prices.price(Stuck.java:32): they wait|refresh
lock|1|they wait for the ReentrantLock, held by thread \"refresh\" in Stuck$Prices.receive|refresh
classes|1|3 threads \"tax-*\" are waiting until Stuck$Rules and Stuck$Money are initialized: thread |tax-0
classes|1|thread \"tax-0\" is in Stuck$Rules.<clinit>(|tax-0
classes|1|, thread \"tax-1\" in Stuck$Money.<clinit>(|tax-0
nested|1|12 threads \"order-*\" are waiting in Stuck.orders(|order-0
nested|1| until Stuck$Orders is initialized by thread \"order-0\" in Stuck$Busy.<clinit>(|order-0
remote|1|4 threads \"load-*\" are waiting in Stuck.remote(|load-0
remote|1| until Stuck$Remote is initialized by thread \"load-0\" in Stuck$Prices.receive(|load-0
export|0|Its thread \"export\" is in Stuck$Prices.receive(Stuck.java:28) (socket read).|export
starved|1|All 4 threads \"quote-*\" of a pool wait in Stuck.lambda$|quote-*
stages|1|for tasks in the queue of the same pool: no thread is left to run them. The queue has 4 tasks.|quote-*
second|1|All 5 threads \"self-*\" of a pool wait in Stuck.lambda$|self-*
reader|0|Its only thread \"printer-0\" is in Stuck$Prices.receive(Stuck.java:28) (socket read).|printer-0
crossed|0|(such as Stuck$$Lambda) (threads: 2, maximumPoolSize 2)|posting-*
crossed|0|2.2 MiB. Its 2 threads \"posting-*\" are in Stuck.lambda$|posting-*
crossed|0| (waiting for each other's locks).|posting-*
outbox|0|Its thread \"sms\" is in Stuck$Outbox.send(Stuck.java:53) (socket read).|sms
upgrade|1|ReentrantReadWriteLock Stuck$Book.lock, but holds its read lock: it waits for itself.|stock-0
permits|0|The Semaphore Stuck$Limit.permits has no permits: 12 threads \"http-*\" wait in Stuck$Limit.enter(|http-*
buffer|0|and no other thread is in a method that these are in. If the semaphore counts items, they are idle.|take-*
pooled|1|(threads: 6, maximumPoolSize 6), 2.3 MiB. 6 threads \"ship-*\" are blocked in Stuck$Prices.price(|refresh
loops|0|Each thread has its own Stuck$Loop and waits for work|loop-*
abandoned|1|for the ReentrantLock Stuck$Prices.lock, held by thread \"seat-0\". It waits|seat-0
unreleased|1|maximumPoolSize 12), 2.3 MiB. 12 threads \"ship-*\" are waiting in Stuck$Prices.locked(|seat-0
unlimited|0|They belong to a thread pool without a maximum (maximumPoolSize 2,147,483,647)|track-*
borrow|1|All 4 threads \"label-*\" of a pool wait in Stuck$Lender.borrow(|label-*
borrow|1| element of the queue Stuck$Lender.idle, which is empty. Behind them, 36 tasks are queued|label-*
borrow|1|The same object's field lent has 8 elements.|label-*
joined|0|(socket read), so none of the 2,996 queued tasks runs.|ForkJoinPool-*-worker-*
meeting|0|12 threads \"region-*\" wait in Stuck$Meeting.join(|region-*
meeting|0| at the CyclicBarrier Stuck$Meeting.all, which needs 13 threads. No other thread is on the way to it|region-*
finalizer|1|Thread \"Finalizer\" is blocked in Stuck$Report.finalize(|archiver
CASES
screen_of second
if grep -F 'All 4 threads' screen.txt; then
	echo "FAILED: second: threads that wait for tasks of another pool are reported"
	failed=1
fi
screen_of pooled
if [ "$(grep -o 'are blocked in' screen.txt | wc -l)" != 1 ] || grep -q 'thread ..ship-' screen.txt; then
	echo "FAILED: pooled: more than one incident, or threads of the pool own its queue"
	cat screen.txt
	failed=1
fi
screen_of groups
for text in '12 threads \"http-*\" are' '6 threads \"http-*\" are'; do
	grep -qF -- "$text" screen.txt || { echo "FAILED: groups: no \"$text\""; cat screen.txt; failed=1; }
done
for name in convoy-ok lock-ok classes-ok remote-ok upgrade-ok starved-ok stages-ok reader-ok crossed-ok permits-ok \
	gate-ok odd-ok pooled-ok loops-ok workers-ok processes export-ok outbox-ok finalizer-ok abandoned-ok \
	unlimited-ok queued initializers borrow-ok joined-ok meeting-ok idle; do
	screen_of $name
	grep -e stuck-threads -e 'has no permits' -e 'waits for itself' \
		-e 'Each thread has' -e 'they wait for' -e 'it waits for' \
		-e 'of a pool wait' -e 'until ' -e 'Its ' -e 'without a maximum' \
		-e 'queued tasks runs' -e 'CyclicBarrier' screen.txt ||
		continue
	echo "FAILED: $name is reported"
	failed=1
done
exit $failed
