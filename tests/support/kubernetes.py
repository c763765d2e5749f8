"""Checks manifests: kubernetes.py FILE... Each document by the strict schema of its kind, in the oldest and the
newest version that the package kubernetes-validate has from 1.29 on; then what schemas do not say. The arguments
of containers that run heapdb are those that it takes.
"""
import subprocess
import sys

import kubernetes_validate
import yaml

failures = []
REQUIRED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def check(what, holds, *shown):
    if not holds:
        failures.append(what)
        print("FAILED:", what, *shown)


def pod_of(document):
    spec = document["spec"]
    if document["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return spec["template"]["spec"] if "template" in spec else spec


def versions():
    found = sorted((tuple(map(int, v.split("."))) for v in kubernetes_validate.utils.all_versions()))
    found = [v for v in found if v >= (1, 29)]
    return [".".join(map(str, v)) for v in (found[0], found[-1])]


def documents(file):
    """Those of a file; a patch of a pod's containers as a whole pod."""
    with open(file, encoding="utf-8") as text:
        for document in yaml.safe_load_all(text):
            if "kind" not in document:
                containers = document["spec"]["ephemeralContainers"]
                document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "patched"}, "spec": {
                    "containers": [{"name": containers[0]["targetContainerName"], "image": "app"}],
                    **document["spec"]}}
            yield document


def takes(arguments):
    """Whether heapdb takes them: run once, where no JVM is."""
    arguments = ["." if a in ("/heaps", "/work") else a for a in arguments]
    done = subprocess.run(["heapdb", *arguments, "--once"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode != 2, done.stdout


def main(files):
    claims, used = set(), set()
    for file in files:
        for document in documents(file):
            name = f"{file}: {document['kind']}"
            for version in versions():
                try:
                    kubernetes_validate.validate(document, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    check(f"{name} {version}", False, error)
            check(f"{name}: no role", document["kind"] in ("PersistentVolumeClaim", "Deployment", "CronJob", "Pod"))
            if document["kind"] == "PersistentVolumeClaim":
                claims.add(document["metadata"]["name"])
                continue
            pod = pod_of(document)
            volumes = {volume["name"] for volume in pod.get("volumes", ())}
            used |= {volume["persistentVolumeClaim"]["claimName"] for volume in pod.get("volumes", ())
                     if "persistentVolumeClaim" in volume}
            containers = [c for key in ("initContainers", "containers", "ephemeralContainers")
                          for c in pod.get(key, ())]
            mounted = {mount["name"] for c in containers for mount in c.get("volumeMounts", ())}
            check(f"{name}: volumes", mounted == volumes, mounted, volumes)
            for c in containers:
                if "heapdb" not in c["image"]:
                    continue
                for key, value in REQUIRED.items():
                    check(f"{name}: {c['name']}: {key}", c["securityContext"].get(key) == value)
                user = c["securityContext"].get("runAsUser") or pod.get("securityContext", {}).get("runAsUser")
                check(f"{name}: {c['name']}: a user", user)
                if c.get("args"):
                    check(f"{name}: heapdb {' '.join(c['args'])}", *takes(c["args"]))
    check("claims", used - claims <= {"heap-dumps"}, used, claims)
    broken = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"nam": "x"}]}}
    try:
        kubernetes_validate.validate(broken, versions()[-1], strict=True)
        check("the schema takes all", False)
    except kubernetes_validate.ValidationError:
        pass


main(sys.argv[1:])
sys.exit(bool(failures))
