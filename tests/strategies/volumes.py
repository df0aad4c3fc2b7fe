"""Volumes of most kinds, and mounts of them."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from tests.strategies.basics import MEMORY, Strategy, amounts, distinct, dns_labels, object_names, some, texts, words

_MODES = st.sampled_from([0, 0o400, 0o644, 0o777])
_PATHS = words("a", "conf/a.yaml", "a../..b", "{{FC_TASK_INDEX}}", "i{{FC_TASK_INDEX}}/on", "007", "~", "a b", "é")
_KEYS = words("a", "on", "1e3", "x_{{FC_TASK_INDEX}}", ".hidden", "A-b_c.d")
_FIELDS = words("metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations", "metadata.labels['a']")


@st.composite
def _items(draw: st.DrawFn) -> list[dict[str, Any]]:
    paths = draw(distinct(_PATHS))
    return [draw(some({"mode": _MODES}, key=_KEYS, path=st.just(path))) for path in paths]


@st.composite
def _downward_files(draw: st.DrawFn) -> list[dict[str, Any]]:
    paths = draw(distinct(_PATHS, least=1))
    source = some({"apiVersion": st.just("v1")}, fieldPath=_FIELDS)
    return [draw(some({"mode": _MODES}, path=st.just(path), fieldRef=source)) for path in paths]


def _from_object(name_field: str) -> Strategy:
    """A volume made of a ConfigMap's or Secret's keys."""
    return some({"items": _items(), "defaultMode": _MODES, "optional": st.booleans()}, **{name_field: object_names})


def _projected(kind: str) -> dict[str, Any]:
    """A source of a projected volume that writes under a path of its own."""
    named = some({"optional": st.booleans()}, name=object_names)
    item = st.fixed_dictionaries({"key": _KEYS, "path": words(f"{kind}/a", f"{kind}/{{{{FC_TASK_INDEX}}}}")})
    sources: dict[str, Any] = {
        "configMap": named.flatmap(lambda held: item.map(lambda one: {**held, "items": [one]})),
        "secret": named.flatmap(lambda held: item.map(lambda one: {**held, "items": [one]})),
        "serviceAccountToken": some({"audience": texts, "expirationSeconds": st.sampled_from([600, 3600])}, path=st.just("token/t")),
        "downwardAPI": st.just({"items": [{"path": "labels/all", "fieldRef": {"fieldPath": "metadata.labels"}}]}),
    }
    return {kind: sources[kind]}


_SOURCES = ("configMap", "downwardAPI", "secret", "serviceAccountToken")
_projections = distinct(st.sampled_from(_SOURCES), least=1, most=4).flatmap(
    lambda kinds: st.tuples(*(st.fixed_dictionaries(_projected(kind)) for kind in kinds)).map(list)
)

_access = st.sampled_from([["ReadWriteOnce"], ["ReadOnlyMany", "ReadWriteMany"], ["ReadWriteOncePod"]])
_claim_template = st.fixed_dictionaries(
    {
        "spec": some(
            {
                "storageClassName": words("fast", "", "on"),
                "volumeMode": words("Filesystem", "Block"),
                "selector": st.just({"matchLabels": {"a": "{{FC_TASK_INDEX}}"}}),
                "volumeName": object_names,
                "volumeAttributesClassName": words("gold"),
                "dataSource": st.just({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}),
            },
            accessModes=_access,
            resources=amounts(*MEMORY[1:]).map(lambda amount: {"requests": {"storage": amount}}),
        )
    }
)

SOURCES: dict[str, Strategy] = {
    "emptyDir": some({"medium": words("", "Memory", "HugePages"), "sizeLimit": amounts(*MEMORY)}),
    "configMap": _from_object("name"),
    "secret": _from_object("secretName"),
    "downwardAPI": some({"items": _downward_files(), "defaultMode": _MODES}),
    "projected": some({"defaultMode": _MODES}, sources=_projections),
    "hostPath": some({"type": words("", "DirectoryOrCreate", "Socket")}, path=words("/data", "/mnt/{{FC_TASK_INDEX}}", "on")),
    "persistentVolumeClaim": some({"readOnly": st.booleans()}, claimName=object_names),
    "nfs": some({"readOnly": st.booleans()}, server=words("10.0.0.1", "nfs.example.com"), path=words("/", "/{{FC_TASK_INDEX}}")),
    "csi": some(
        {
            "readOnly": st.booleans(),
            "fsType": words("", "ext4"),
            "volumeAttributes": st.dictionaries(words("a", "no", "share/{{FC_TASK_INDEX}}"), texts, max_size=2),
            "nodePublishSecretRef": object_names.map(lambda name: {"name": name}),
        },
        driver=words("csi.example.com", "inline.storage.kubernetes.io"),
    ),
    "ephemeral": st.fixed_dictionaries({"volumeClaimTemplate": _claim_template}),
    "image": some(
        {"pullPolicy": words("Always", "Never", "IfNotPresent")}, reference=words("registry.example.com/data:1", f"data@sha256:{64 * '0'}")
    ),
    "iscsi": some(
        {"iscsiInterface": words("default", "tcp"), "fsType": words("xfs"), "readOnly": st.booleans()},
        targetPortal=words("10.0.0.1:3260"),
        iqn=words("iqn.2001-04.com.example:storage.disk1"),
        lun=st.sampled_from([0, 255]),
    ),
    "fc": some({"fsType": words("ext4"), "readOnly": st.booleans()}, targetWWNs=st.just(["500a0982991b8dc5"]), lun=st.sampled_from([0, 2])),
    "rbd": some(
        {"pool": words("rbd", "p"), "user": words("admin", "u"), "keyring": words("/etc/ceph/keyring", "/k"), "readOnly": st.booleans()},
        monitors=st.just(["10.16.154.78:6789"]),
        image=words("foo"),
    ),
    "cephfs": some({"user": words("admin"), "path": words("/", "/x"), "readOnly": st.booleans()}, monitors=st.just(["10.16.154.78:6789"])),
    "azureFile": some({"readOnly": st.booleans()}, secretName=object_names, shareName=words("s")),
    "azureDisk": some(
        {"cachingMode": words("None", "ReadOnly"), "fsType": words("ext4"), "readOnly": st.booleans()},
        kind=words("Managed"),
        diskName=words("d"),
        diskURI=words("/subscriptions/x/disks/d"),
    ),
    "awsElasticBlockStore": some({"partition": st.just(1), "readOnly": st.booleans()}, volumeID=words("vol-1")),
    "gcePersistentDisk": some({"fsType": words("ext4")}, pdName=words("my-disk")),
    "flexVolume": some({"options": st.dictionaries(words("a", "y"), texts, max_size=2)}, driver=words("example.com/driver")),
}


@st.composite
def volumes(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to four volumes; one may give no source, which makes it an `emptyDir`."""
    found = []
    others = dns_labels.filter(lambda name: not re.fullmatch("v[0-9]+", name))  # Those are the names of one with a placeholder.
    for name in draw(distinct(st.one_of(others, words("data", "v{{FC_TASK_INDEX}}", "v{{FC_TASK_INDEX+1}}")), most=4)):
        kind = draw(st.sampled_from((*sorted(SOURCES), "configMap", "emptyDir", "")))
        found.append({"name": name, **({kind: draw(SOURCES[kind])} if kind else {})})
    return found


@st.composite
def mounts(draw: st.DrawFn, held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mounts of these volumes into one container."""
    found = []
    for index, volume in enumerate(held):
        if draw(st.booleans()):
            continue
        path = draw(words(f"/mnt/{index}", f"/{index}/{{{{FC_TASK_INDEX}}}}", f"relative{index}", f"/{index} é"))
        mount = {"name": volume["name"], "mountPath": path}
        mount |= draw(st.sampled_from(({}, {}, {"subPath": "a/{{FC_TASK_INDEX}}"}, {"subPathExpr": "$(FC_POD_NAME)"}, {"subPath": "no"})))
        mount |= draw(
            st.sampled_from(
                (
                    {},
                    {},
                    {"readOnly": True},
                    {"readOnly": False},
                    {"mountPropagation": "HostToContainer"},
                    {"readOnly": True, "recursiveReadOnly": "IfPossible"},
                    {"readOnly": True, "recursiveReadOnly": "Enabled", "mountPropagation": "None"},
                )
            )
        )
        found.append(mount)
    return found


def files(held: list[dict[str, Any]]) -> list[str]:
    """The volumes that `fileKeyRef` may name."""
    return [volume["name"] for volume in held if "emptyDir" in volume]
