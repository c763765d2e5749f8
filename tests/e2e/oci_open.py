"""Opens an OCI image layout as an engine does: oci_open.py IMAGE.tar FOLDER unpacks its layers into FOLDER
and prints the entry point. Every blob's digest and size are checked."""
import gzip
import hashlib
import io
import json
import sys
import tarfile


def main(image, folder):
    with tarfile.open(image) as archive:
        files = {m.name: archive.extractfile(m).read() for m in archive if m.isreg()}
    assert json.loads(files["oci-layout"])["imageLayoutVersion"] == "1.0.0"

    def blob(descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        data = files[f"blobs/{algorithm}/{digest}"]
        assert hashlib.sha256(data).hexdigest() == digest and len(data) == descriptor["size"]
        return data

    index = json.loads(files["index.json"])
    assert index["schemaVersion"] == 2 and len(index["manifests"]) == 1
    manifest = json.loads(blob(index["manifests"][0]))
    assert manifest["config"]["mediaType"] == "application/vnd.oci.image.config.v1+json"
    config = json.loads(blob(manifest["config"]))
    assert config["os"] == "linux" and config["architecture"] in ("amd64", "arm64")
    assert index["manifests"][0]["platform"]["architecture"] == config["architecture"]
    layers = [gzip.decompress(blob(layer)) for layer in manifest["layers"]]
    found = ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
    assert found == config["rootfs"]["diff_ids"], "the layers are not those of the configuration"
    assert len(files) == 4 + len(layers), sorted(files)
    for layer in layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            archive.extractall(folder)
    print(*config["config"]["Entrypoint"])


if __name__ == "__main__":
    main(*sys.argv[1:])
