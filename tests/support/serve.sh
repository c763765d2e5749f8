# support/serve.sh - starts `heapdb serve` for a test, which sources this and has a folder of its
# own: start_serve ARGUMENT... leaves the address in ./url and the process in $server, which is the
# test's to end (its trap on EXIT, too). Exits 77 where the door was not built, 1 where no address
# comes in ten seconds.
# shellcheck shell=sh
server=

start_serve()
{
	heapdb serve "$@" --quiet >url 2>err &
	server=$!
	tries=0
	until [ -s url ]; do
		tries=$((tries + 1))
		if ! kill -0 "$server" 2>/dev/null; then
			server=
			cat err
			if grep -q 'without libmicrohttpd' err; then
				echo "this heapdb was built without libmicrohttpd"
				exit 77
			fi
			exit 1
		fi
		[ "$tries" -lt 100 ] || { cat err; exit 1; }
		sleep 0.1
	done
}
