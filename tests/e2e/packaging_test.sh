#!/bin/sh
# packaging_test.sh - what `make release` writes in addition to binaries: image, list of parts, formula. Workflows call
# existing targets. packages_test.sh tests the binaries.
set -eu
cd "$HDB_ROOT"
command -v python3 > /dev/null || { echo "no python3 here"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
make_image=tools/packaging/make_image.py
w=$TMPDIR

# An image has the same bytes each time, can be opened, and is refused if a byte differs.
printf '#!/bin/sh\necho "$@"\n' > "$w/command"
python3 $make_image "$w/command" amd64 1700000000 "$w/a.tar" > /dev/null
python3 $make_image "$w/command" amd64 1700000000 "$w/b.tar" > /dev/null
cmp "$w/a.tar" "$w/b.tar"
mkdir "$w/root"
[ "$(python3 tests/e2e/oci_open.py "$w/a.tar" "$w/root")" = /heapdb ]
cmp "$w/command" "$w/root/heapdb"
[ -x "$w/root/heapdb" ]
cmp NOTICES "$w/root/NOTICES"
[ "$(stat -c %a "$w/root/tmp")" = 1777 ]
python3 - "$w/a.tar" "$w/bad.tar" << 'END'
import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"\x1f\x8b\x08") + 20
open(sys.argv[2], "wb").write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
END
if python3 tests/e2e/oci_open.py "$w/bad.tar" "$w/root" 2> /dev/null; then exit 1; fi

# The list of parts contains heapdb and every row of NOTICES, each with its own name.
python3 tools/packaging/make_sbom.py 1700000000 https://example.org > "$w/sbom"
python3 - "$w/sbom" << 'END'
import json, re, sys
sbom = json.load(open(sys.argv[1]))
rows = open("NOTICES").read().split("\n\n")[1].splitlines()
names = [p["name"] for p in sbom["packages"]]
assert names == ["heapdb"] + [re.split("  +", row.strip())[0] for row in rows], names
ids = [p["SPDXID"] for p in sbom["packages"]]
assert len(set(ids)) == len(ids) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i) for i in ids)
assert {r["relatedSpdxElement"] for r in sbom["relationships"]} == set(ids)
references = {r["licenseId"] for r in sbom["hasExtractedLicensingInfos"]}
for p in sbom["packages"]:
    assert set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", p["licenseDeclared"])) <= references, p
    assert re.fullmatch(r"[A-Za-z0-9.+-]+( (AND|OR) [A-Za-z0-9.+-]+)*", p["licenseDeclared"]), p
    assert p["licenseConcluded"] == p["licenseDeclared"], p
assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0"
END

# The formula names the existing archives with their checksums.
version=$(heapdb --version | sed 's/^heapdb \([0-9.]*\).*/\1/')
mkdir "$w/release"
echo mac > "$w/release/heapdb-$version-macos-aarch64.tar.gz"
echo linux > "$w/release/heapdb-$version-linux-x86_64.tar.gz"
python3 tools/packaging/make_formula.py "$w/release" https://example.org https://example.org/d > "$w/heapdb.rb"
grep -q "url \"https://example.org/d/heapdb-$version-macos-aarch64.tar.gz\"" "$w/heapdb.rb"
grep -q "sha256 \"$(echo linux | sha256sum | sed 's/ .*//')\"" "$w/heapdb.rb"
[ "$(grep -c sha256 "$w/heapdb.rb")" = 2 ]
if command -v ruby > /dev/null; then ruby -c "$w/heapdb.rb"; fi

# Workflows call only existing targets.
for file in .github/workflows/*.yml; do
	targets=$(grep -o 'run: make [^$]*' "$file" | sed 's/^run: make//' | tr ' ' '\n' |
		grep -E '^[a-z][a-z-]*$' || true)
	for target in $targets; do
		grep -qE "^$target:" Makefile || { echo "$file: there is no target $target"; exit 1; }
	done
	# shellcheck disable=SC2013
	for script in $(sed -n 's/.*run: \(sh\|bash\) \([^ ]*\).*/\2/p' "$file"); do
		[ -f "$script" ] || { echo "$file: there is no $script"; exit 1; }
	done
done
[ "$(grep -lE 'make (-j2 )?(release|test)|\.ci/run' .github/workflows/*.yml | wc -l)" = 2 ]
