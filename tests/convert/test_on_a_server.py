"""A real API server with our definition takes every Framework that is converted, and every Pod that it makes."""

from __future__ import annotations

import json
from typing import Any

from fcompile import compile as compile_text
from fcompile.convert.replicated_jobs import JOB_TRIES
from fcompile.model.framework import INT32_MAX
from tests.cluster.cluster import Cluster
from tests.convert.jobs import jobs
from tests.convert.operator import convert
from tests.reading import documents

ADDRESSES = {
    "Framework": "/apis/frameworkcontroller.microsoft.com/v1/namespaces/default/frameworks",
    "ConfigMap": "/api/v1/namespaces/default/configmaps",
    "Service": "/api/v1/namespaces/default/services",
    "Pod": "/api/v1/namespaces/default/pods",
}


def test_it_takes_what_is_converted(cluster: Cluster) -> None:
    for name, job in jobs():
        text = convert(json.dumps(job)).text()
        made = [document.value for document in documents(text.encode(), name)] + compile_text(text=text).expected("pods,services")
        for value in made:
            if value["kind"] not in ADDRESSES:
                continue
            value["metadata"]["namespace"] = "default"
            status, answer = cluster.api.request("POST", ADDRESSES[value["kind"]], value, {"dryRun": "All", "fieldValidation": "Strict"})
            # The second of two of one name would be refused when it is made; tried, each is the first.
            assert status == 201, (name, value["kind"], answer)


def test_it_refuses_the_limits_of_a_job_that_convert_refuses(cluster: Cluster) -> None:
    """Where a Job has `backoffLimitPerIndex`, no 6 stands beside it."""

    def create(**limits: Any) -> tuple[int, Any]:
        pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}
        indexed = {"completionMode": "Indexed", "parallelism": 2, "completions": 2}
        job = {"metadata": {"name": "a"}, "spec": {**indexed, "template": {"spec": pod}, **limits}}
        return cluster.api.request("POST", "/apis/batch/v1/namespaces/default/jobs", job, {"dryRun": "All", "fieldValidation": "Strict"})

    for tries, limits in ((JOB_TRIES, {}), (INT32_MAX, {"backoffLimitPerIndex": 1})):
        status, made = create(**limits)
        assert (status, made["spec"]["backoffLimit"]) == (201, tries)
    assert create(backoffLimitPerIndex=1, completionMode="NonIndexed")[0] == 422
    assert create(maxFailedIndexes=1)[0] == 422
