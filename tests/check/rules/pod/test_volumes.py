"""Volumes: one source each, and what their sources ask for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, findings, pod

VOLUME = "spec.volumes[0]"
STORAGE = {"requests": {"storage": "1Gi"}}


def volume(version: int = 36, /, **source: Any) -> list[str]:
    """The findings, with paths below the volume."""
    return [line.replace(VOLUME, "").replace(" .", " ") for line in check(pod(volumes=[{"name": "data", **source}]), version)]


def test_names() -> None:
    data = {"name": "data", "emptyDir": {}}
    assert check(pod(volumes=[data, {"name": "b"}, data, data])) == ["FC240 spec.volumes[2].name", "FC240 spec.volumes[3].name"]
    assert check(pod(volumes=[{"name": ""}, {"name": ""}, None, {}])) == []


def test_sources() -> None:
    assert volume() == []  # An emptyDir.
    assert volume(emptyDir={}, configMap={"name": "c"}) == ["FC241 configMap"]
    assert volume(emptyDir={}, configMap=None) == []
    assert volume(secret={}, emptyDir={}, hostPath={"path": "/"}) == ["FC241 emptyDir", "FC241 hostPath"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ({"persistentVolumeClaim": {"claimName": "Out_Dir"}}, "persistentVolumeClaim.claimName"),
        ({"secret": {"secretName": "a/b"}}, "secret.secretName"),
        ({"configMap": {"name": "A"}}, "configMap.name"),
        ({"azureFile": {"shareName": "A", "secretName": "A"}}, "azureFile.secretName"),
        ({"projected": {"sources": [{"secret": {"name": "A"}}]}}, "projected.sources[0].secret.name"),
        ({"projected": {"sources": [{}, {"configMap": {"name": "x" * 254}}]}}, "projected.sources[1].configMap.name"),
        ({"secret": {"secretName": "a.b-c"}}, ""),
        ({"secret": {"secretName": "{{UNKNOWN}}"}}, ""),
        ({"hostPath": {"path": "A"}}, ""),
    ],
)
def test_names_that_no_object_has(source: dict[str, Any], name: str) -> None:
    assert volume(**source) == ([f"FC251 {name}"] if name else [])


def test_names_of_pull_secrets() -> None:
    assert check(pod(imagePullSecrets=[{"name": "registry"}, {"name": "My_Registry"}])) == ["FC251 spec.imagePullSecrets[1].name"]


@pytest.mark.parametrize(
    ("medium", "said"),
    [
        ("", ""),
        (None, ""),
        ("Memory", ""),
        ("HugePages", ""),
        ("HugePages-2Mi", ""),
        ("{{FC_TASKROLE_NAME}}", ""),
        ("memory", 'no kubelet knows the medium "memory": did you mean `Memory`?'),
        ("hugepages-1Gi", 'no kubelet knows the medium "hugepages-1Gi": did you mean `HugePages-1Gi`?'),
        (
            "HugePages-2MB",
            'no kubelet knows the medium "HugePages-2MB": it is Memory, HugePages, HugePages-SIZE or left out, for the node\'s disk',
        ),
        ("SSD", 'no kubelet knows the medium "SSD": it is Memory, HugePages, HugePages-SIZE or left out, for the node\'s disk'),
    ],
)
def test_media(medium: str | None, said: str) -> None:
    template = pod(volumes=[{"name": "data", "emptyDir": {"medium": medium}}])
    assert check(template) == (["FC252 spec.volumes[0].emptyDir.medium"] if said else [])
    assert [found.message for found in findings(template)] == ([said] if said else [])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}, []),
        ({"emptyDir": {"sizeLimit": "0"}}, []),
        ({"emptyDir": {"sizeLimit": "-1Gi"}}, ["FC242 emptyDir.sizeLimit"]),
        ({"emptyDir": {"sizeLimit": None}}, []),
        ({"iscsi": {"chapAuthSession": True}}, ["FC242 iscsi"]),
        ({"iscsi": {"chapAuthSession": True, "secretRef": {"name": "s"}}}, []),
        ({"iscsi": {"chapAuthDiscovery": False}}, []),
        ({"iscsi": {"initiatorName": "iqn.2001-04.com.example:a", "targetPortal": "x" * 59}}, []),
        ({"iscsi": {"initiatorName": "iqn.2001-04.com.example:a", "targetPortal": "x" * 60}}, ["FC242 iscsi.initiatorName"]),
        ({"fc": {"targetWWNs": ["a"], "lun": 0}}, []),
        ({"fc": {"wwids": ["a"]}}, []),
        ({"fc": {}}, ["FC242 fc"]),
        ({"fc": {"targetWWNs": [], "wwids": []}}, ["FC242 fc.targetWWNs"]),
        ({"fc": {"targetWWNs": ["a"], "wwids": ["a"], "lun": 1}}, ["FC242 fc.targetWWNs"]),
        ({"fc": {"targetWWNs": ["a"]}}, ["FC242 fc"]),
        ({"fc": {"targetWWNs": ["a"], "lun": 256}}, ["FC242 fc.lun"]),
        ({"fc": {"wwids": ["a"], "lun": 256}}, []),
        ({"azureDisk": {"diskName": "d", "diskURI": "https://x"}}, []),
        ({"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x"}}, ["FC242 azureDisk.diskURI"]),
        ({"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x", "kind": "Managed"}}, []),
        ({"azureDisk": {"diskName": "d", "diskURI": "https://x", "kind": "Managed"}}, ["FC242 azureDisk.diskURI"]),
        ({"cinder": {"volumeID": "v", "secretRef": {"name": "s"}}}, []),
        ({"cinder": {"volumeID": "v", "secretRef": {}}}, ["FC242 cinder.secretRef"]),
        ({"csi": {"driver": "d", "nodePublishSecretRef": {"name": "s"}}}, []),
        ({"csi": {"driver": "d", "nodePublishSecretRef": {"name": ""}}}, ["FC242 csi.nodePublishSecretRef"]),
        ({"csi": {"driver": "d", "nodePublishSecretRef": {"name": "S_"}}}, ["FC242 csi.nodePublishSecretRef"]),
        ({"flexVolume": {"driver": "d", "options": {"a": "b", "kubernetes.io.x/b": "c"}}}, []),
        ({"flexVolume": {"driver": "d", "options": {"kubernetes.io/b": "c"}}}, ["FC242 flexVolume.options"]),
        ({"flexVolume": {"driver": "d", "options": {"x.K8s.io/b": "c"}}}, ["FC242 flexVolume.options"]),
    ],
)
def test_settings(source: dict[str, Any], expected: list[str]) -> None:
    assert volume(**source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"flocker": {"datasetName": "d"}}, []),
        ({"flocker": {"datasetUUID": "d"}}, []),
        ({"flocker": {}}, ["FC242 flocker"]),
        ({"flocker": {"datasetName": "d", "datasetUUID": "d"}}, ["FC242 flocker.datasetName"]),
        ({"flocker": {"datasetName": "a/b"}}, ["FC242 flocker.datasetName"]),
        ({"storageos": {"secretRef": {}}}, ["FC242 storageos.secretRef"]),
        ({"quobyte": {"volume": "v", "registry": "a:1,b:2"}}, []),
        ({"quobyte": {"volume": "v", "registry": "[::1]:1"}}, []),
        ({"quobyte": {"volume": "v", "registry": "a"}}, ["FC242 quobyte.registry"]),
        ({"quobyte": {"volume": "v", "registry": "a:1", "tenant": "x" * 65}}, ["FC242 quobyte.tenant"]),
    ],
)
def test_settings_of_what_is_gone(source: dict[str, Any], expected: list[str]) -> None:
    [kind] = source
    assert volume(**source) == [*expected, f"FC243 {kind}"]


@pytest.mark.parametrize(("kind", "since"), [("cephfs", 31), ("rbd", 31), ("gitRepo", 33), ("glusterfs", 26), ("quobyte", 25)])
def test_plugins_that_are_gone(kind: str, since: int) -> None:
    assert f"FC243 {kind}" not in volume(since - 1, **{kind: {}})
    assert f"FC243 {kind}" in volume(since, **{kind: {}})


FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}
RESOURCE = {"resourceFieldRef": {"resource": "limits.cpu", "containerName": "main"}}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"path": "a", **FIELD}, {"path": "b", **RESOURCE}], []),
        ([{"path": "a"}], ["FC244 downwardAPI.items[0]"]),
        ([None], ["FC244 downwardAPI.items[0]"]),
        ([{"path": "a", **FIELD, **RESOURCE}], ["FC244 downwardAPI.items[0].resourceFieldRef"]),
        ([{"path": "a", **FIELD}, {"path": "a", **RESOURCE}], ["FC245 downwardAPI.items[1].path"]),
    ],
)
def test_downward_api(items: list[Any], expected: list[str]) -> None:
    assert volume(downwardAPI={"items": items}) == expected


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a", "b"], []),
        (["a/b", "a/c"], []),
        (["a", "a"], [1]),
        (["a", "a/b"], [1]),
        (["a/b", "a"], [1]),
        (["a/b/c", "a/b/"], [1]),
        (["ab", "a"], []),
    ],
)
def test_files_in_each_others_way(paths: list[str], expected: list[int]) -> None:
    items = [{"key": "k", "path": path} for path in paths]
    assert volume(configMap={"name": "c", "items": items}) == [f"FC245 configMap.items[{index}].path" for index in expected]
    assert volume(secret={"secretName": "c", "items": items}) == [f"FC245 secret.items[{index}].path" for index in expected]


SECRET = {"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}}
CONFIG = {"configMap": {"name": "s", "items": [{"key": "k", "path": "a"}]}}
TOKEN = {"serviceAccountToken": {"path": "a"}}


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([SECRET], []),
        ([SECRET, {"configMap": {"name": "c"}}], []),
        ([{**SECRET, "configMap": {"name": "c"}}], ["FC246 projected.sources[0].configMap"]),
        ([{}], []),
        ([None], []),
        ([SECRET, CONFIG], ["FC247 projected.sources[1].configMap.items[0].path"]),
        ([SECRET, TOKEN], ["FC245 projected.sources[1].serviceAccountToken.path"]),
        ([{"downwardAPI": {"items": [{"path": "a"}]}}], ["FC244 projected.sources[0].downwardAPI.items[0]"]),
    ],
)
def test_projected(sources: list[Any], expected: list[str]) -> None:
    assert volume(projected={"sources": sources}) == expected


BUNDLE = {"path": "p", "name": "x"}
SIGNED = {"path": "p", "signerName": "example.com/s"}


@pytest.mark.parametrize(
    ("bundle", "expected"),
    [
        (BUNDLE, []),
        (SIGNED, []),
        ({"path": "p", "name": "example.com:s:x"}, []),
        ({"path": "p"}, ["FC248 "]),
        ({**BUNDLE, **SIGNED}, ["FC248 "]),
        ({**BUNDLE, "name": "A"}, ["FC248 .name"]),
        ({**BUNDLE, "labelSelector": {}}, ["FC248 .labelSelector"]),
        ({**SIGNED, "labelSelector": {}}, []),
        ({**SIGNED, "signerName": "s"}, ["FC248 .signerName"]),
        ({**SIGNED, "signerName": "com/s"}, ["FC248 .signerName"]),
        ({**SIGNED, "signerName": "example.com/a/b"}, ["FC248 .signerName"]),
        ({**SIGNED, "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, ["FC275 .labelSelector.matchExpressions[0]"]),
    ],
)
def test_trust_bundles(bundle: dict[str, Any], expected: list[str]) -> None:
    place = "projected.sources[0].clusterTrustBundle"
    sources = {"sources": [{"clusterTrustBundle": bundle}]}
    assert volume(37, projected=sources) == [line.replace(" ", f" {place}") for line in expected]
    assert volume(36, projected=sources) == [f"FC200 {place}"]


CERTIFICATE = {"signerName": "example.com/s", "keyType": "ED25519", "credentialBundlePath": "c"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"credentialBundlePath": None}, ["FC249 "]),
        ({"credentialBundlePath": "", "keyPath": "k"}, []),
        ({"signerName": "s"}, ["FC249 .signerName"]),
        ({"maxExpirationSeconds": 100_000}, []),
        ({"maxExpirationSeconds": 86_400, "signerName": "kubernetes.io/s"}, []),
        ({"maxExpirationSeconds": 86_401, "signerName": "kubernetes.io/s"}, ["FC249 .maxExpirationSeconds"]),
        ({"maxExpirationSeconds": 86_401, "signerName": "a.kubernetes.io/s"}, ["FC249 .maxExpirationSeconds"]),
        ({"userAnnotations": {"example.com/a": "b"}}, []),
        ({"userAnnotations": {"a": "b"}}, ["FC249 .userAnnotations.a"]),
        ({"userAnnotations": {"example.com/a": "b" * 2**18}}, ["FC249 .userAnnotations"]),
        ({"keyPath": "c"}, ["FC247 .keyPath"]),
    ],
)
def test_certificates(change: dict[str, Any], expected: list[str]) -> None:
    place = "projected.sources[0].podCertificate"
    sources = {"sources": [{"podCertificate": {**CERTIFICATE, **change}}]}
    assert volume(37, projected=sources) == [line.replace(" ", f" {place}") for line in expected]
    assert volume(36, projected=sources) == [f"FC200 {place}"]


def claim(version: int = 36, /, metadata: Any = None, **spec: Any) -> list[str]:
    template = {"metadata": metadata, "spec": {"accessModes": ["ReadWriteOnce"], "resources": STORAGE, **spec}}
    found = volume(version, ephemeral={"volumeClaimTemplate": template})
    return [line.replace("ephemeral.volumeClaimTemplate.", "") for line in found]


REFERENCE = {"apiGroup": "a.b", "kind": "Foo", "name": "x"}
COPY = {"kind": "PersistentVolumeClaim", "name": "x"}


@pytest.mark.parametrize(
    ("spec", "version", "expected"),
    [
        ({}, 36, []),
        ({"accessModes": ["ReadWriteOncePod"]}, 36, []),
        ({"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}, 36, ["FC250 spec.accessModes"]),
        ({"resources": {}}, 36, ["FC250 spec"]),
        ({"resources": None}, 36, ["FC250 spec"]),
        ({"resources": {"requests": {"storage": "0"}}}, 36, ["FC250 spec.resources.requests.storage"]),
        ({"resources": {"requests": {"storage": None}}}, 36, ["FC250 spec.resources.requests.storage"]),
        ({"selector": {"matchLabels": {"a": "b"}}}, 36, []),
        ({"dataSource": COPY}, 36, []),
        ({"dataSource": {**COPY, "kind": "Foo"}}, 36, ["FC250 spec.dataSource"]),
        ({"dataSourceRef": REFERENCE}, 36, []),
        ({"dataSourceRef": {**REFERENCE, "apiGroup": "A_b"}}, 28, []),
        ({"dataSourceRef": {**REFERENCE, "apiGroup": "A_b"}}, 29, ["FC250 spec.dataSourceRef.apiGroup"]),
        ({"dataSourceRef": {**REFERENCE, "namespace": "N"}}, 36, ["FC250 spec.dataSourceRef.namespace"]),
        ({"dataSource": COPY, "dataSourceRef": COPY}, 36, []),
        ({"dataSource": COPY, "dataSourceRef": REFERENCE}, 36, ["FC250 spec.dataSource"]),
        ({"dataSource": COPY, "dataSourceRef": {**COPY, "namespace": "n"}}, 36, ["FC250 spec.dataSource"]),
        ({"volumeAttributesClassName": "A_"}, 36, ["FC250 spec.volumeAttributesClassName"]),
        ({"volumeAttributesClassName": "A_"}, 33, []),
        ({"volumeAttributesClassName": ""}, 36, []),
    ],
)
def test_claim_templates(spec: dict[str, Any], version: int, expected: list[str]) -> None:
    assert claim(version, **spec) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"labels": {}, "annotations": {}, "name": "", "generation": 0}, []),
        ({"finalizers": []}, ["FC250 metadata.finalizers"]),
        ({"finalizers": None}, []),
        ({"deletionGracePeriodSeconds": 0}, ["FC250 metadata.deletionGracePeriodSeconds"]),
    ],
)
def test_metadata_of_claims(metadata: dict[str, Any], expected: list[str]) -> None:
    assert claim(metadata=metadata) == expected


def test_an_image_volume_that_is_taken_out_of_pods_has_its_name_in_the_framework() -> None:
    """The API server takes it out of Pods, where the other one has the name. The definition refuses two of one name."""
    image, claimed = {"name": "data", "image": {"reference": "x"}}, {"name": "data", "persistentVolumeClaim": {"claimName": "c"}}
    for volumes in ([image, claimed], [claimed, image]):
        template = pod(container(volumeDevices=[{"name": "data", "devicePath": "/x"}]), volumes=volumes)
        assert [line for line in check(template, 34) if not line.startswith("FC200")] == ["FC240 spec.volumes[1].name"]
        assert [line.partition(" ")[0] for line in check(template, 35)] == ["FC240"]
