"""Packs the static command into a container image: make_image.py COMMAND ARCHITECTURE TIME IMAGE.tar

The output is an OCI image layout (for `docker load`, `podman load` and `skopeo copy oci-archive:`) with one
layer: /heapdb, its licences, /tmp, and the working directory /work. It contains no shell and no libraries. It
runs as user 65532 or any other user, such as those that OpenShift assigns, because all users can write to /tmp
and /work. All times are TIME (in seconds), so the same command gives the same bytes. Uses only the standard
library.
"""
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
USER = 65532
TYPES = "application/vnd.oci.image."


def version():
    with open(os.path.join(ROOT, "include", "heapdb.h"), encoding="utf-8") as header:
        return re.search(r'#define HDB_VERSION "(.*)"', header.read()).group(1)


def tar(members, seconds):
    """Returns a tar archive of members (name, bytes or None for a directory, mode)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, mode in members:
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime = mode, seconds
            if data is None:
                entry.type = tarfile.DIRTYPE
                entry.uid = entry.gid = USER if name == "work" else 0
            else:
                entry.size = len(data)
            archive.addfile(entry, None if data is None else io.BytesIO(data))
    return out.getvalue()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main(command, architecture, seconds, image):
    seconds = int(seconds)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    blobs = {}

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": TYPES + kind, "digest": f"sha256:{digest}", "size": len(data)}

    def blob_json(kind, value):
        return blob(kind, json.dumps(value, sort_keys=True).encode())

    files = [("heapdb", read(command), 0o755), ("tmp", None, 0o1777), ("work", None, 0o1777)]
    files += [(name, read(os.path.join(ROOT, name)), 0o644) for name in ("LICENSE", "NOTICES")]
    layer = tar(files, seconds)
    labels = {"org.opencontainers.image.title": "heapdb",
              "org.opencontainers.image.version": version(),
              "org.opencontainers.image.licenses": "MIT",
              "org.opencontainers.image.description":
                  "indexed database for Java and Android heap dumps"}
    config = blob_json("config.v1+json", {
        "architecture": architecture, "os": "linux", "created": created,
        "config": {"Entrypoint": ["/heapdb"], "User": f"{USER}:{USER}", "WorkingDir": "/work",
                   "Labels": labels},
        "rootfs": {"type": "layers",
                   "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": created, "created_by": "make release"}]})
    manifest = blob_json("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": TYPES + "manifest.v1+json", "config": config,
        "layers": [blob("layer.v1.tar+gzip", gzip.compress(layer, 9, mtime=0))],
        "annotations": labels})
    manifest["platform"] = {"architecture": architecture, "os": "linux"}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version(),
                               "io.containerd.image.name": f"heapdb:{version()}"}
    index = {"schemaVersion": 2, "mediaType": TYPES + "index.v1+json", "manifests": [manifest]}
    members = [("oci-layout", b'{"imageLayoutVersion":"1.0.0"}', 0o644),
               ("index.json", json.dumps(index, sort_keys=True).encode(), 0o644),
               ("blobs", None, 0o755), ("blobs/sha256", None, 0o755)]
    members += [(f"blobs/sha256/{name}", data, 0o644) for name, data in sorted(blobs.items())]
    with open(image, "wb") as out:
        out.write(tar(members, seconds))
    print(image)


if __name__ == "__main__":
    main(*sys.argv[1:])
