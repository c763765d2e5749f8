# npm.sh - sourced by tests that need an npm package.
# shellcheck shell=sh

# npm_package FOLDER PACKAGE: installs the package into the directory once and keeps it between runs. Skips the test if
# it is not available. Scripts of packages are not run.
npm_package()
{
	command -v npm >/dev/null || { echo "no npm here"; exit 77; }
	if [ ! -f "$1/ready" ]; then
		mkdir -p "$1"
		if ! timeout 300 npm install --prefix "$1" --ignore-scripts --no-audit --no-fund --silent "$2" \
			>/dev/null 2>&1; then
			echo "$2 cannot be installed here"
			exit 77
		fi
		: >"$1/ready"
	fi
}
