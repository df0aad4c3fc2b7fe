"""What Trainer v2, JobSet and mpi-operator made of a job, and what ours is to agree with, Pod by Pod: the differences in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from fcompile import compile as compile_text
from fcompile.convert.conversion import Account
from fcompile.model import names
from tests.convert.operator import DATA, convert, metadata_of_pod

Json = dict[str, Any]
NOT_OURS = re.compile(r"(jobset\.sigs\.k8s\.io|batch\.kubernetes\.io|training\.kubeflow\.org)/|(job-name|controller-uid)$")
FIELD = re.compile(r"metadata\.(labels|annotations)\['([^']*)'\]")
REFERENCE = re.compile(r"\$\(([^)]+)\)")
DEFAULTS = {
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
    "serviceAccount": None,
}
"""What the API server fills in."""
VOLUMES = {"mpi-ssh-auth": "ssh-auth", "mpi-hostfile": "mpi-job-config"}
"""Volumes of Trainer's, and those of ours in their place."""
WAIT = "wait-for-workers"
"""Our init container in the place of a launcher that is made late."""


def recorded() -> Iterator[tuple[str, Json]]:
    """Yield the recorded jobs by kind and name."""
    for path in sorted((DATA / "controllers").glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            job = case["documents"][0]
            yield f"{job['kind']}-{job['metadata']['name']}", case


def account_of(case: Json) -> tuple[Account, list[Json]]:
    """Return what became of a job, and all objects that come of it."""
    conversion = convert("---\n".join(json.dumps(document) for document in case["documents"]))
    (account,) = conversion.jobs
    if account.made is None:
        return account, []
    compilation = compile_text(text=conversion.text())
    beside = [document.value for file in compilation._files for document in file.documents() if document.value["kind"] != "Framework"]
    return account, [*compilation.expected(), *beside]


def differences(case: Json) -> Iterator[str]:
    """Yield where our objects do not agree with the controllers'."""
    account, ours = account_of(case)
    assert account.made is not None, account.reasons
    yield from _differences(case, account.made.name, ours)


def _differences(case: Json, framework: str, ours: list[Json]) -> Iterator[str]:
    pods = {one["metadata"]["name"]: one for one in ours if one["kind"] == "Pod"}
    mapped = Names(case, framework, set(pods))
    met = set()
    for key, theirs in case["made"].items():
        kind, _, name = key.split("/")
        if kind == "Pod" and mapped.pod(name) in pods:
            met.add(mapped.pod(name))
            yield from _pod(name, theirs, pods[mapped.pod(name)], mapped)
            yield from _name(name, theirs, pods[mapped.pod(name)], ours, mapped)
        elif kind == "Pod":
            yield from _runs_first(name, theirs, pods, mapped)
        elif kind == "ConfigMap":
            found = {one["metadata"]["name"]: one["data"] for one in ours if one["kind"] == "ConfigMap"}
            yield from _config_map(theirs, found.get(mapped.text(name), {}), mapped)
    yield from (f"{name} has no Pod there" for name in sorted(pods.keys() - met))


class Names:
    """Names of the controllers' as ours."""

    def __init__(self, case: Json, framework: str, pods: set[str]) -> None:
        self._job: str = case["documents"][0]["metadata"]["name"]
        self._framework = framework
        made = {key.split("/")[2]: one for key, one in case["made"].items() if key.startswith("Pod/")}
        if case["documents"][0]["kind"] == "MPIJob":
            roles = {name: (*name.removeprefix(f"{self._job}-").split("-"), "0")[:2] for name in made}
        else:
            roles = {name: self._of_set(name, one) for name, one in made.items()}
        self._tasks = {name: (role, index) for name, (role, index) in roles.items()}
        subdomains = {one["spec"]["subdomain"] for one in made.values() if "subdomain" in one["spec"]}
        domain = rf"(?:\.(?:{'|'.join(map(re.escape, subdomains))}))?" if subdomains else ""
        known = "|".join(re.escape(name) for name in sorted(self._tasks, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w.-])({known}){domain}(?![\w-])")
        specs = [one["spec"] for name, one in made.items() if self.pod(name) not in pods]
        self.first = {one["name"] for spec in specs for one in (*spec.get("initContainers", ()), *spec["containers"])}
        """The containers of Pods that run before others: init containers of these here."""

    def _of_set(self, name: str, theirs: Json) -> tuple[str, str]:
        labels = theirs["labels"]
        part = re.sub("[^a-z0-9]", "", labels["jobset.sigs.k8s.io/replicatedjob-name"].lower())
        number = labels["jobset.sigs.k8s.io/job-index"] if labels["jobset.sigs.k8s.io/replicatedjob-replicas"] != "1" else ""
        # Pods without an index have a name that says nothing: `-0` and a `+` for each that was seen before.
        return f"{part}{number}", labels.get("batch.kubernetes.io/job-completion-index", str(name.count("+")))

    def ours_alone(self, container: str) -> bool:
        """Return whether an init container of ours is in none of their Pods of the same name."""
        return container == WAIT or container in self.first or container.partition("-")[2] in self.first

    def pod(self, name: str) -> str:
        """Return the name of our Pod for one of theirs."""
        return f"{self._framework}-{'-'.join(self._tasks[name])}"

    def host(self, name: str) -> str:
        """Return the DNS name that a task of ours has."""
        role, index = self._tasks[name]
        return f"{role}-{index}.{self._framework}-{role}"

    def text(self, text: str) -> str:
        """Return a text with all names of the controllers' as ours."""
        for theirs, ours in (("-mpi-ssh-auth", "-ssh"), ("-ssh", "-ssh"), ("-mpi-hostfile", "-config"), ("-config", "-config")):
            if text == f"{self._job}{theirs}":
                return f"{self._framework}{ours}"
        return self._pattern.sub(lambda match: self.host(match[1]), text) if self._tasks else text

    def searches(self, domains: list[str]) -> Iterator[str]:
        """Yield the domains to search in, with those of all Services here in the place of the one there."""
        for domain in domains:
            own = dict.fromkeys(f"{self._framework}-{role}.default.svc.cluster.local" for role, _ in self._tasks.values())
            yield from own if domain == f"{self._job}.default.svc.cluster.local" else [domain]

    def value(self, value: Any) -> Any:
        """Return a value with all names of the controllers' as ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return [self.value(item) for item in value] if isinstance(value, list) else value


def _pod(name: str, theirs: Json, ours: Json, mapped: Names) -> Iterator[str]:
    spec, own = theirs["spec"], ours["spec"]
    yield from metadata_of_pod(name, theirs, ours, NOT_OURS)
    for kind in ("containers", "initContainers"):
        wanted = {one["name"]: one for one in spec.get(kind, ())}
        found = {one["name"]: one for one in own.get(kind, ()) if kind == "containers" or not mapped.ours_alone(one["name"])}
        if wanted.keys() != found.keys():
            yield f"{name}: {kind} {sorted(found)} for {sorted(wanted)}"
        for container in sorted(wanted.keys() & found.keys()):
            yield from _container(f"{name}/{container}", wanted[container], theirs, found[container], ours, mapped)
    volumes = [_by_name(pod.get("volumes", ())) for pod in (spec, own)]
    if mapped.value(_without_defaults(volumes[0])) != _without_defaults(volumes[1]):
        yield f"{name}: volumes {volumes[1]} for {volumes[0]}"
    ignored = {"containers", "initContainers", "volumes", "hostname", "subdomain"}
    for field in sorted((spec.keys() | own.keys()) - ignored):
        pair = [_without_defaults(found.get(field, DEFAULTS.get(field))) for found in (spec, own)]
        if field == "imagePullSecrets":
            pair = [sorted(one or (), key=str) for one in pair]
        if field == "dnsConfig" and pair[0]:
            pair[0] = {**pair[0], "searches": list(mapped.searches(pair[0]["searches"]))}
        if pair[0] != pair[1]:
            yield f"{name}: {field} {pair[1]} for {pair[0]}"


def _runs_first(name: str, theirs: Json, pods: dict[str, Json], mapped: Names) -> Iterator[str]:
    """Its containers must be init containers here."""
    spec = theirs["spec"]
    found = 0
    for pod in pods.values():
        own = {one["name"]: one for one in pod["spec"].get("initContainers", ())}
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            ours = own.get(f"{mapped.pod(name).split('-')[1]}-{container['name']}") or own.get(container["name"])
            if ours is not None:
                found += 1
                yield from _container(f"{name}/{container['name']}", container, theirs, {**ours, "name": container["name"]}, pod, mapped)
    if not found:
        yield f"{name}: no Pod here does what it does"


def _name(name: str, theirs: Json, ours: Json, objects: list[Json], mapped: Names) -> Iterator[str]:
    """A name that resolves there must lead to the same Pod here, before it is ready too."""
    if "hostname" not in theirs["spec"] or "subdomain" not in theirs["spec"]:
        return
    spec, wanted = ours["spec"], mapped.text(f"{theirs['spec']['hostname']}.{theirs['spec']['subdomain']}")
    if f"{spec.get('hostname')}.{spec.get('subdomain')}" != wanted:
        yield f"{name}: {wanted} does not resolve"
        return
    services = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "Service"}
    service = services.get(spec["subdomain"])
    if service is None or service["clusterIP"] != "None" or not service["publishNotReadyAddresses"]:
        yield f"{name}: its Service is not headless, or waits until Pods are ready"
    elif any(ours["metadata"]["labels"].get(key) != value for key, value in service["selector"].items()):
        yield f"{name}: the Service does not select its Pod"


def _container(place: str, theirs: Json, pod: Json, ours: Json, own: Json, mapped: Names) -> Iterator[str]:
    wanted = mapped.value(_variables(mapped.value(theirs), pod))
    found = {key: value for key, value in _variables(ours, own["metadata"]).items() if key not in names.POD_ENV}
    for variable in sorted(wanted.keys() | found.keys()):
        if _without_defaults(wanted.get(variable)) != _without_defaults(found.get(variable)):
            yield f"{place}: {variable} is {found.get(variable)} for {wanted.get(variable)}"
    for port in map(_without_defaults, theirs.get("ports", ())):
        # Trainer writes its port over one that has the same number, or no name: here both stay.
        if not any(port.items() <= _without_defaults(own).items() for own in ours.get("ports", ())):
            yield f"{place}: port {port}"
    ignored = {"env", "ports", "terminationMessagePolicy", "terminationMessagePath", "imagePullPolicy"}
    for field in sorted((theirs.keys() | ours.keys()) - ignored):
        pair = [one.get(field) or None for one in (theirs, ours)]
        if field == "resources":
            pair = [_resources(one) for one in pair]
        if field == "volumeMounts":
            pair = [sorted(({**one, "name": VOLUMES.get(one["name"], one["name"])} for one in mounts or ()), key=str) for mounts in pair]
        if mapped.value(_without_defaults(pair[0])) != _without_defaults(pair[1]):
            yield f"{place}: {field} is {pair[1]} for {pair[0]}"


def _variables(container: Json, pod: Json) -> Json:
    """Return the variables of a container, those that read a label or annotation with its value.

    One that refers to another one has its value too, where that comes first: the kubelet does the same.
    """
    made: Json = {}
    for variable in container.get("env", ()):
        match = FIELD.fullmatch(variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", ""))
        value = (pod.get(match[1]) or {}).get(match[2], "") if match else variable.get("value", "")
        value = REFERENCE.sub(lambda found: str(made.get(found[1], {}).get("value", found[0])), value)
        made[variable["name"]] = {"name": variable["name"], "value": value} if match else {**variable, "value": value}
    return made


def _resources(found: Any) -> Any:
    """Return resources with the requests that the API server takes from the limits."""
    made = {kind: {name: str(amount) for name, amount in amounts.items()} for kind, amounts in (found or {}).items() if kind != "claims"}
    requests = {**made.get("limits", {}), **made.get("requests", {})}
    return {**made, **({"requests": requests} if requests else {})} or None


def _by_name(volumes: Any) -> list[Json]:
    made = [{**one, "name": VOLUMES.get(one["name"], one["name"])} for one in volumes]
    for volume in made:
        if volume["name"] == "ssh-auth":
            # Trainer gives the key of root a mode with which ssh does not take it: tests of the kinds hold what ours has.
            items = [{key: value for key, value in one.items() if key != "mode"} for one in volume["secret"]["items"]]
            volume["secret"] = {"secretName": volume["secret"]["secretName"], "items": items}
    return sorted(made, key=lambda one: str(one["name"]))


def _config_map(theirs: Json, ours: Json, mapped: Names) -> Iterator[str]:
    for key, value in theirs["data"].items():
        wanted = mapped.text(value.replace(".default.svc", ""))
        if wanted != ours.get(key):
            yield f"ConfigMap: {key} is {ours.get(key)!r} for {wanted!r}"


def _without_defaults(value: Any) -> Any:
    """Return a value without what the API server fills in, or `build` does."""
    if isinstance(value, dict):
        defaults = {"protocol": "TCP", "defaultMode": 420, "apiVersion": "v1", "hostPort": value.get("containerPort")}
        return {key: _without_defaults(item) for key, item in value.items() if defaults.get(key) != item or key == "name"}
    return [_without_defaults(item) for item in value] if isinstance(value, list) else value
