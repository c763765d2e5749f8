# support/serve.sh - starts `heapdb serve` for a test that sources this file and has its own directory: start_serve
# ARGUMENT... writes the address to ./url and sets $server to the process, which the test must end (also in its trap on
# EXIT). Exits with 77 if heapdb was built without serve, and with 1 if no address appears in ten seconds.
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
