"""What the operator made of a job, and what ours is to agree with, Pod by Pod: the differences in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fcompile import compile as compile_text
from fcompile.check.document import Options
from fcompile.convert.conversion import Conversion
from fcompile.load.files import FileEntry
from fcompile.model import names
from fcompile.pipeline.file import open_file

Json = dict[str, Any]
DATA = Path(__file__).parent / "data"
NOT_OURS = re.compile(r"training\.kubeflow\.org/")
LABEL = re.compile(r"metadata\.labels\['(training\.kubeflow\.org/[^']*)'\]")
OF_THE_SERVER = ("dnsPolicy", "schedulerName", "terminationGracePeriodSeconds", "securityContext", "serviceAccount", "serviceAccountName")
REPLACED = {"init-pytorch", "kubectl-delivery", "wait-for-workers"}
"""Init containers of the operator's that are not needed here, and ours in their place."""
KUBEXEC = {"mpi-job-kubectl", "ssh-auth"}
"""Volumes: the operator's for `kubectl exec`, ours for ssh in its place. kubexec has no equivalent."""


def cases() -> Iterator[tuple[str, Json]]:
    """Yield the recorded jobs by kind and name."""
    for path in sorted(DATA.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            yield f"{case['job']['kind']}-{case['job']['metadata']['name']}", case


def convert(text: str) -> Conversion:
    """Convert a text."""
    return Conversion([open_file(FileEntry("job.yaml", "-"), text.encode("utf-8", "surrogatepass"))], Options(36, "default"))


def made_of(job: Json) -> tuple[str, list[Json]]:
    """Return the name of a job's Framework, and all objects that come of it."""
    conversion = convert(json.dumps(job))
    (account,) = conversion.jobs
    assert account.made is not None, account.reasons
    compilation = compile_text(text=conversion.text())
    beside = [document.value for file in compilation._files for document in file.documents() if document.value["kind"] != "Framework"]
    return account.made.name, [*compilation.expected(), *beside]


def differences(case: Json) -> Iterator[str]:
    """Yield where our objects do not agree with the operator's."""
    job = case["job"]
    framework, ours = made_of(job)
    mapped = Names(job, framework, {one["metadata"]["name"] for one in ours if one["kind"] == "Pod"})
    by_key = {(one["kind"], one["metadata"]["name"]): one for one in ours}
    for key, theirs in case["made"].items():
        kind, _, name = key.split("/")
        if kind == "Pod":
            yield from _pod(name, theirs, by_key[("Pod", mapped.pod(name))], mapped)
        elif kind == "Service":
            yield from _service(name, theirs, by_key, mapped)
        elif kind == "ConfigMap":
            yield from _config_map(theirs, by_key[("ConfigMap", mapped.text(name))], mapped)
    counts = [sum(key.startswith("Pod/") for key in case["made"]), sum(kind == "Pod" for kind, _ in by_key)]
    if counts[0] != counts[1]:
        yield f"{counts[0]} Pods there, {counts[1]} here"


class Names:
    """Names of the operator's as ours."""

    def __init__(self, job: Json, framework: str, pods: set[str]) -> None:
        self._job: str = job["metadata"]["name"]
        self._framework = framework
        self._pods = pods
        self._pattern = re.compile(rf"(?<![\w.-]){re.escape(self._job)}-([a-z]+)-(\d+)(?![\w-])")

    def pod(self, name: str) -> str:
        """Return the name of our Pod for one of the operator's."""
        match = self._pattern.fullmatch(name)
        if match is None:
            return f"{self._framework}-{name.removeprefix(f'{self._job}-')}-0"
        return f"{self._framework}-{'-'.join(self._task(match[1], int(match[2])))}"

    def host(self, name: str) -> str:
        """Return the DNS name that a task of ours has."""
        match = self._pattern.fullmatch(name)
        assert match is not None
        role, index = self._task(match[1], int(match[2]))
        return f"{role}-{index}.{self._framework}-{role}"

    def text(self, text: str) -> str:
        """Return a text with all names of the operator's as ours."""
        if text == f"{self._job}-config":
            return f"{self._framework}-config"
        return self._pattern.sub(lambda match: self.host(match[0]), text)

    def _task(self, role: str, index: int) -> tuple[str, str]:
        if f"{self._framework}-{role}0-0" not in self._pods:
            return role, str(index)
        return (f"{role}0", "0") if index == 0 else (role, str(index - 1))


def metadata_of_pod(name: str, theirs: Json, ours: Json, operators: re.Pattern[str]) -> Iterator[str]:
    """Yield the labels and annotations of the user's that a Pod here does not have.

    :param operators: what those of the operator match.
    """
    for kind in ("labels", "annotations"):
        for key, value in (theirs.get(kind) or {}).items():
            if not operators.match(key) and ours["metadata"].get(kind, {}).get(key) != value:
                yield f"{name}: {kind} {key}"


def _pod(name: str, theirs: Json, ours: Json, mapped: Names) -> Iterator[str]:
    spec, own = theirs["spec"], ours["spec"]
    yield from metadata_of_pod(name, theirs, ours, NOT_OURS)
    for kind in ("containers", "initContainers"):
        wanted = {one["name"]: one for one in spec.get(kind, ()) if one["name"] not in REPLACED}
        found = {one["name"]: one for one in own.get(kind, ()) if one["name"] not in REPLACED}
        if wanted.keys() != found.keys():
            yield f"{name}: {kind} {sorted(found)} for {sorted(wanted)}"
        for container in wanted.keys() & found.keys():
            yield from _container(f"{name}/{container}", _with_labels(wanted[container], theirs["labels"]), found[container], mapped)
    volumes = [[one for one in pod.get("volumes", ()) if one["name"] not in KUBEXEC] for pod in (spec, own)]
    if _mapped(_without_defaults(volumes[0]), mapped) != _without_defaults(volumes[1]):
        yield f"{name}: volumes {volumes[1]} for {volumes[0]}"
    ignored = {"containers", "initContainers", "volumes", *OF_THE_SERVER, "hostname", "subdomain"}
    for field in (spec.keys() | own.keys()) - ignored:
        if spec.get(field) != own.get(field):
            yield f"{name}: {field} {own.get(field)} for {spec.get(field)}"


def _with_labels(container: Json, labels: Json) -> Json:
    """Return a container with the values of the labels that its variables read: no Pod has such labels here."""
    env = []
    for variable in container.get("env", ()):
        match = LABEL.fullmatch(variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", ""))
        env.append({"name": variable["name"], "value": labels.get(match[1], "")} if match else variable)
    return {**container, "env": env}


def _container(place: str, theirs: Json, ours: Json, mapped: Names) -> Iterator[str]:
    wanted = _mapped({one["name"]: {**one, "value": one.get("value", "")} for one in theirs.get("env", ())}, mapped)
    found = {one["name"]: {**one, "value": one.get("value", "")} for one in ours["env"] if one["name"] not in names.POD_ENV}
    for variable in wanted.keys() | found.keys():
        if _without_defaults(wanted.get(variable)) != _without_defaults(found.get(variable)):
            yield f"{place}: {variable} is {found.get(variable)} for {wanted.get(variable)}"
    for field in (theirs.keys() | ours.keys()) - {"env", "terminationMessagePolicy", "terminationMessagePath", "imagePullPolicy"}:
        pair = [one.get(field) or None for one in (theirs, ours)]
        if field == "volumeMounts":
            pair = [[item for item in found or () if item["name"] not in KUBEXEC] for found in pair]
        if _mapped(_without_defaults(pair[0]), mapped) != _without_defaults(pair[1]):
            yield f"{place}: {field} is {pair[1]} for {pair[0]}"


def _service(name: str, theirs: Json, ours: dict[tuple[str, str], Json], mapped: Names) -> Iterator[str]:
    """Each name and port of theirs must lead to the same Pod here, before it is ready too."""
    pod = ours[("Pod", mapped.pod(name))]
    service = ours.get(("Service", pod["spec"].get("subdomain", "")))
    if service is None or f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}" != mapped.host(name):
        yield f"{name}: {mapped.host(name)} does not resolve"
        return
    spec = service["spec"]
    if spec["clusterIP"] != "None" or not spec["publishNotReadyAddresses"]:
        yield f"{name}: the Service is not headless, or waits until Pods are ready"
    if any(pod["metadata"]["labels"].get(key) != value for key, value in spec["selector"].items()):
        yield f"{name}: the Service does not select its Pod"
    found = {(one["name"], one["port"]) for one in spec.get("ports", ())}
    for port in theirs["spec"].get("ports", ()):
        if (port["name"], port["port"]) not in found:
            yield f"{name}: port {port['name']}"


def _config_map(theirs: Json, ours: Json, mapped: Names) -> Iterator[str]:
    for key, value in theirs["data"].items():
        if key not in ours["data"] or ("<" not in value and mapped.text(value) != ours["data"][key]):
            yield f"ConfigMap: {key} is {ours['data'].get(key)!r} for {mapped.text(value)!r}"


def _mapped(value: Any, mapped: Names) -> Any:
    if isinstance(value, str):
        return mapped.text(value)
    if isinstance(value, dict):
        return {key: _mapped(item, mapped) for key, item in value.items()}
    return [_mapped(item, mapped) for item in value] if isinstance(value, list) else value


def _without_defaults(value: Any) -> Any:
    """Return a value without what the API server fills in, or `build` does."""
    if isinstance(value, dict):
        defaults = {"protocol": "TCP", "defaultMode": 420, "apiVersion": "v1"}
        return {key: _without_defaults(item) for key, item in value.items() if defaults.get(key) != item or key == "name"}
    return [_without_defaults(item) for item in value] if isinstance(value, list) else value
