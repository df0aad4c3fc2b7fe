"""Security contexts, namespaces of the host, and operating systems."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, of_main, pod

CONTEXT = "spec.containers[0].securityContext"


def context(version: int = 36, /, **fields: Any) -> list[str]:
    return check(of_main(securityContext=fields), version)


def test_privileges() -> None:
    assert context(privileged=True, allowPrivilegeEscalation=True) == []
    assert context(privileged=False, allowPrivilegeEscalation=False) == []
    assert context(privileged=True) == []
    assert context(privileged=True, allowPrivilegeEscalation=False) == [f"FC265 {CONTEXT}.allowPrivilegeEscalation"]
    capabilities = {"add": ["NET_ADMIN", "CAP_SYS_ADMIN"]}
    assert context(capabilities=capabilities, allowPrivilegeEscalation=False) == [
        f"FC265 {CONTEXT}.capabilities.add[1]",
        f"FC269 {CONTEXT}.capabilities.add[1]",
    ]


def test_capabilities_have_no_prefix() -> None:
    assert context(capabilities={"add": ["IPC_LOCK", "NET_ADMIN"], "drop": ["ALL"]}) == []
    prefixed = {"add": ["CAP_IPC_LOCK"], "drop": ["cap_net_raw"]}
    assert context(capabilities=prefixed) == [f"FC269 {CONTEXT}.capabilities.add[0]", f"FC269 {CONTEXT}.capabilities.drop[0]"]
    assert context(capabilities={"add": ["SYS_ADMIN"]}, allowPrivilegeEscalation=False) == []


@pytest.mark.parametrize("key", ["seccompProfile", "appArmorProfile"])
@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ({"type": "RuntimeDefault"}, []),
        ({"type": "Localhost", "localhostProfile": "p/x"}, []),
        ({"type": "Localhost"}, [""]),
        ({"type": "Unconfined", "localhostProfile": "p"}, [".localhostProfile"]),
        ({"type": "Unconfined", "localhostProfile": None}, []),
        ({}, []),
    ],
)
def test_local_profiles(key: str, profile: dict[str, Any], expected: list[str]) -> None:
    assert context(**{key: profile}) == [f"FC266 {CONTEXT}.{key}{place}" for place in expected]
    assert check(pod(securityContext={key: profile})) == [f"FC266 spec.securityContext.{key}{place}" for place in expected]


@pytest.mark.parametrize(
    ("name", "seccomp", "app_armor"),
    [
        ("p", True, True),
        ("", True, False),
        ("/p", False, True),
        ("../p", False, True),
        (" p", True, False),
        ("p ", True, False),
        ("p" * 4095, True, True),
        ("p" * 4096, True, False),
    ],
)
def test_names_of_local_profiles(name: str, seccomp: bool, app_armor: bool) -> None:
    profile = {"type": "Localhost", "localhostProfile": name}
    assert (context(seccompProfile=profile) == []) == seccomp
    assert (context(appArmorProfile=profile) == []) == app_armor
    assert context(29, appArmorProfile=profile) == []


def test_namespaces() -> None:
    assert check(pod(shareProcessNamespace=True, hostNetwork=True)) == []
    assert check(pod(shareProcessNamespace=True, hostPID=True)) == ["FC267 spec.shareProcessNamespace"]
    assert check(pod(hostUsers=False, hostNetwork=True, hostPID=True, hostIPC=True)) == [
        "FC267 spec.hostNetwork",
        "FC267 spec.hostPID",
        "FC267 spec.hostIPC",
    ]
    assert check(pod(hostUsers=False, hostPID=True), 32) == ["FC200 spec.hostUsers"]
    assert check(pod(hostUsers=True, hostPID=True)) == []


def test_unmasked_proc() -> None:
    assert context(procMount="Unmasked") == [f"FC267 {CONTEXT}.procMount"]
    assert context(32, procMount="Unmasked") == [f"FC200 {CONTEXT}.procMount"]
    assert context(procMount="Default") == []
    assert context(32, procMount="Default") == []
    assert check(pod(container(securityContext={"procMount": "Unmasked"}), hostUsers=False)) == []


@pytest.mark.parametrize(
    ("names", "spec", "version", "expected"),
    [
        (["kernel.msgmax", "net.core.somaxconn"], {}, 36, []),
        (["a.b", "a.b"], {}, 36, [1]),
        (["a.b", "a/b"], {}, 36, []),
        (["net.core.somaxconn"], {"hostNetwork": True}, 36, [0]),
        (["net/core/somaxconn"], {"hostNetwork": True}, 36, [0]),
        (["net.core.somaxconn"], {"hostNetwork": True}, 28, []),
        (["kernel.sem", "fs.mqueue.a", "kernel.ngroups"], {"hostIPC": True}, 36, [0, 1]),
        (["kernel.sem"], {"hostNetwork": True}, 36, []),
        (["", ""], {}, 36, []),
    ],
)
def test_sysctls(names: list[str], spec: dict[str, Any], version: int, expected: list[int]) -> None:
    found = check(pod(securityContext={"sysctls": [{"name": name, "value": "1"} for name in names]}, **spec), version)
    assert found == [f"FC268 spec.securityContext.sysctls[{index}].name" for index in expected]


WINDOWS = {"name": "windows"}
LINUX = {"name": "linux"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hostPID": True}, ["hostPID"]),
        ({"hostPID": False}, []),
        ({"hostIPC": True}, ["hostIPC"]),
        ({"hostNetwork": True}, []),
        ({"shareProcessNamespace": False}, ["shareProcessNamespace"]),
        ({"hostUsers": True}, ["hostUsers"]),
        ({"securityContext": {"runAsUser": 1, "fsGroup": 2}}, ["securityContext.runAsUser", "securityContext.fsGroup"]),
        ({"securityContext": {"runAsNonRoot": True, "windowsOptions": {}}}, []),
        ({"securityContext": {"sysctls": []}}, []),
        ({"securityContext": {"sysctls": [{"name": "a"}]}}, ["securityContext.sysctls"]),
        ({"securityContext": {"seLinuxOptions": None}}, []),
    ],
)
def test_windows_has_no_linux_settings(spec: dict[str, Any], expected: list[str]) -> None:
    assert check(pod(os=WINDOWS, **spec)) == [f"FC270 spec.{place}" for place in expected]
    assert check(pod(**spec)) == []


def test_containers_for_windows() -> None:
    security = {"capabilities": {}, "privileged": False, "runAsUser": 1, "runAsNonRoot": True, "procMount": "Default"}
    found = check(pod(container(securityContext=security), os=WINDOWS))
    assert found == [f"FC270 {CONTEXT}.{key}" for key in ("capabilities", "privileged", "runAsUser", "procMount")]


@pytest.mark.parametrize(
    ("field", "since"), [("seLinuxChangePolicy", 33), ("supplementalGroupsPolicy", 33), ("appArmorProfile", 30), ("hostUsers", 33)]
)
def test_fields_that_windows_lacks_by_version(field: str, since: int) -> None:
    spec: dict[str, Any] = {"hostUsers": True} if field == "hostUsers" else {"securityContext": {field: {}}}
    assert "FC270" not in str(check(pod(os=WINDOWS, **spec), since - 1))
    assert "FC270" in str(check(pod(os=WINDOWS, **spec), since))


def test_linux_has_no_windows_settings() -> None:
    assert check(pod(os=LINUX, securityContext={"windowsOptions": {}})) == ["FC270 spec.securityContext.windowsOptions"]
    assert check(pod(os=LINUX, securityContext={"windowsOptions": None})) == []
    assert check(pod(container(securityContext={"windowsOptions": {}}), os=LINUX)) == [f"FC270 {CONTEXT}.windowsOptions"]


def host_process(whole: Any, first: Any, second: Any, network: bool = True) -> list[str]:
    def of(value: Any) -> dict[str, Any]:
        return {} if value is None else {"securityContext": {"windowsOptions": {"hostProcess": value}}}

    return check(pod(container("a", **of(first)), container("b", **of(second)), hostNetwork=network, **of(whole)))


def test_host_processes() -> None:
    own = "securityContext.windowsOptions.hostProcess"
    assert host_process(True, None, None) == []
    assert host_process(None, True, True) == []
    assert host_process(None, False, False, network=False) == []
    assert host_process(None, True, None) == ["FC271 spec.containers"]
    assert host_process(True, False, None) == [f"FC271 spec.containers[0].{own}", "FC271 spec.containers"]
    assert host_process(True, None, None, network=False) == ["FC271 spec.hostNetwork"]
    assert host_process(False, True, True) == [f"FC271 spec.containers[0].{own}", f"FC271 spec.containers[1].{own}"]


@pytest.mark.parametrize(
    ("user", "good"),
    [
        ("user", True),
        ("DOMAIN\\user", True),
        ("a.example.com\\user", True),
        ("", False),
        ("\\user", False),
        ("DOMAIN\\", False),
        ("d:m\\user", False),
        ("a\\b\\c", False),
        ("...", False),
        (". .", False),
        ("a;b", False),
        ("u" * 104, True),
        ("u" * 105, False),
        ("u\x01", False),
        ("d" * 256 + "\\u", False),
    ],
)
def test_windows_users(user: str, good: bool) -> None:
    found = check(pod(os=WINDOWS, securityContext={"windowsOptions": {"runAsUserName": user}}))
    assert found == ([] if good else ["FC272 spec.securityContext.windowsOptions.runAsUserName"])


@pytest.mark.parametrize(("size", "good"), [(0, False), (1, True), (2**16, True), (2**16 + 1, False)])
def test_windows_credentials(size: int, good: bool) -> None:
    found = context(windowsOptions={"gmsaCredentialSpec": "x" * size})
    assert found == ([] if good else [f"FC272 {CONTEXT}.windowsOptions.gmsaCredentialSpec"])
