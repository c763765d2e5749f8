"""Lists the components of the binaries in SPDX 2.3: make_sbom.py TIME [HOMEPAGE] > heapdb.spdx.json

The components come from NOTICES. Their versions are those of the Debian packages from which they are linked
on this machine. Components whose sources are in this repository have no version.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

from make_image import ROOT, version

# Debian packages by the names in NOTICES, and SPDX's names of licences.
PACKAGES = {"LMDB": "liblmdb-dev", "xxHash": "libxxhash-dev", "PCRE2": "libpcre2-dev",
            "zstd": "libzstd-dev", "libdeflate": "libdeflate-dev", "zlib": "zlib1g-dev",
            "SQLite": "libsqlite3-dev", "jansson": "libjansson-dev", "libyaml": "libyaml-dev",
            "libmicrohttpd": "libmicrohttpd-dev", "libpng": "libpng-dev", "libedit": "libedit-dev",
            "ncurses (libtinfo)": "libncurses-dev", "libbsd": "libbsd-dev",
            "glibc": "libc6-dev", "libarchive": "libarchive-dev",
            "liblzma (XZ Utils)": "liblzma-dev", "bzip2": "libbz2-dev", "LZ4": "liblz4-dev"}
LICENCES = {"OpenLDAP Public License 2.8": "OLDAP-2.8", "BSD-3-Clause, with an exemption":
            "BSD-3-Clause", "public domain": "LicenseRef-public-domain", "libpng-2.0": "libpng-2.0",
            "MIT-X11": "X11-distribute-modifications-variant",
            "ISC, BSD-3-Clause, BSD-2-Clause": "ISC AND BSD-3-Clause AND BSD-2-Clause",
            "LGPL-2.1-or-later, parts under others": "LGPL-2.1-or-later"}


def parts():
    """Returns the rows of the table in NOTICES: (name, licence, location)."""
    with open(os.path.join(ROOT, "NOTICES"), encoding="utf-8") as notices:
        table = notices.read().split("\n\n")[1]
    return [re.split(r"  +", line.strip()) for line in table.splitlines()]


def version_of(name):
    if name not in PACKAGES:
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${source:Version}\\n", PACKAGES[name]],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.split("\n")[0] or None


def package(name, licence, where=None, of_version=None, homepage=None):
    entry = {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-"), "name": name,
             "downloadLocation": homepage or "NOASSERTION", "filesAnalyzed": False,
             "licenseConcluded": LICENCES.get(licence, licence),
             "licenseDeclared": LICENCES.get(licence, licence),
             "copyrightText": "NOASSERTION"}
    if of_version:
        entry["versionInfo"] = of_version
    if where:
        entry["comment"] = "in: " + where
    return entry


def main(seconds, homepage=None):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))
    packages = [package("heapdb", "MIT", None, version(), homepage)]
    for name, licence, where in parts():
        packages.append(package(name, licence, where, version_of(name)))
    # SPDX requires the text of licences that are not in its list.
    references = [{"licenseId": "LicenseRef-public-domain", "name": "public domain",
                   "extractedText": "The authors have placed it in the public domain: see NOTICES."}]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-heapdb"}]
    relations += [{"spdxElementId": "SPDXRef-heapdb", "relationshipType": "CONTAINS",
                   "relatedSpdxElement": p["SPDXID"]} for p in packages[1:]]
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
               "name": f"heapdb-{version()}",
               "documentNamespace": f"https://spdx.org/spdxdocs/heapdb-{version()}-{digest}",
               "creationInfo": {"created": created, "creators": ["Tool: make_sbom.py"]},
               "hasExtractedLicensingInfos": references,
               "packages": packages, "relationships": relations}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
