"""The forms of strings: edges, and that the quick tests and the patterns that editors get say the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.model.formats import FORMATS, accepts, suggestion
from tests.cluster.cluster import Cluster

LONG = "x" * 63
GOOD = {
    "framework-name": ["a", "0", LONG],
    "dns-label": ["a", "0", "a-b", "a--b", LONG],
    "dns-subdomain": ["a", "a.b", "a-b.c", f"{LONG}x.{LONG}", "x" * 253],
    "dns-prefix": ["a", "a.b-", "a--", "a.-", "a.--", "--", "A-", "a -", "a..-", "x" * 253 + "-"],
    "hostname": ["a.b", "x" * 64],
    "label-key": ["a", "A_b.c-D", "example.com/A", f"{'x' * 253}/{LONG}"],
    "annotation-key": ["a", "Example.COM/A"],
    "label-value": ["", "a", "A_b.c-D", LONG],
    "env-name": ["a", "_", "A.b-c", "-a", ".a"],
    "relaxed-env-name": ["a", "1", "a b", " ", "~", "..", "-"],
    "config-key": ["a", "1", ".a", "-", "_", "x" * 253],
    "port-name": ["a", "http", "a-1", "1a", "x" * 15],
    "http-header-name": ["a", "X-A", "-"],
    "absolute-path": ["/", "/a", "/../a", "/a\nb"],
    "no-backsteps": ["", "/", "a..b", "..a", "a/..b/c..", "..\n"],
    "relative-path": ["", "a", "a/b", "..a"],
    "local-path": ["", "a", "a/..b"],
    "ip": ["1.2.3.4", "010.2.3.4", "::1", "2001:DB8::1", "::ffff:1.2.3.4"],
    "strict-ip": ["1.2.3.4", "::1", "2001:DB8::1"],
    "dns-search": ["a", "a.b", "a.b."],
    "relaxed-dns-search": [".", "a", "_a._b.c", "a.", "a" * 253, "a" * 253 + "."],
    "sysctl": ["a", "kernel.shm_rmid_forced", "net/ipv4/a.b", "a-_b"],
    "image": ["a", "a b", ""],
    "csi-driver": ["a", "A.b-C.d"],
    "iscsi-name": ["iqn.2001-04.com.example:a", "iqn-iqn.2001-04.x:a", f"eui.{'0' * 16}", f"naa.{'0' * 32}"],
    "date-time": ["2024-05-01T12:00:00Z", "2024-05-01T12:00:00.5+02:00"],
}
BAD = {
    "framework-name": ["", "A", "a-b", "a.b", LONG + "x", "é", "a\n"],
    "dns-label": ["", "-a", "a-", "A", "a.b", "a_b", LONG + "x", "é", "a\n"],
    "dns-subdomain": ["", ".", "a.", ".a", "a..b", "A", "-a.b", "a.b-", "x" * 254, "a_b"],
    "dns-prefix": ["", "-", "a.", "-a", "a-.b", "-a-", "a.-b-", "é-", "é--", "x" * 254, "x" * 254 + "-"],
    "hostname": ["", "x" * 65],
    "label-key": ["", "/a", "a/", "a/b/c", "-a", "A.b/c", LONG + "x", f"{'x' * 254}/a", "a b", "é"],
    "annotation-key": ["", "a_b/c", "/a"],
    "label-value": ["-a", "a-", "a b", LONG + "x", "a\n", "é"],
    "env-name": ["", "1a", "a b", ".", "..", "..a", "a=b", "é"],
    "relaxed-env-name": ["", "a=b", "é", "a\n", "\x7f"],
    "config-key": ["", ".", "..", "..a", "a/b", "x" * 254],
    "port-name": ["", "80", "-a", "a-", "a--b", "A", "x" * 16, "a_b"],
    "http-header-name": ["", "a_b", "a b"],
    "absolute-path": ["", "a", "./a"],
    "no-backsteps": ["..", "../a", "a/..", "a/../b"],
    "relative-path": ["/a", "..", "a/../b"],
    "local-path": ["/a", "..", "..a"],
    "ip": ["", "1.2.3", "1.2.3.256", "fe80::1%eth0", "a", "1.2.3.4 "],
    "strict-ip": ["01.2.3.4", "::ffff:1.2.3.4", ""],
    "dns-search": ["", ".", "a..", "_a"],
    "relaxed-dns-search": ["", "..", "a_", "A"],
    "sysctl": ["", "A", ".a", "a.", "a..b", "x" * 254],
    "image": [" a", "a ", "a\n", "\u00a0a", " "],
    "csi-driver": ["", "a_b", "x" * 64],
    "iscsi-name": ["", "iqn", "iqn.2001-4.com:a", "eui.0", "xiqn.2001-04.com:a", "iqn.2001-04.com:a,b"],
    "date-time": ["", "2024-05-01", "2024-13-01T12:00:00Z", "2024-05-01 12:00:00Z"],
}


def test_every_form_has_examples() -> None:
    assert set(GOOD) == set(BAD) == set(FORMATS)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_accepted(name: str, text: str) -> None:
    assert accepts(name)(text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_refused(name: str, text: str) -> None:
    assert not accepts(name)(text)


@pytest.mark.parametrize("name", ["dns-search", "relaxed-dns-search"])
def test_only_a_dot_at_the_end_comes_on_top_of_the_longest_domain(name: str) -> None:
    assert accepts(name)("a" * 253)
    assert accepts(name)("a" * 253 + ".")
    assert not accepts(name)("a" * 254)


def test_the_server_takes_the_same_prefixes(cluster: Cluster) -> None:
    for text in (*GOOD["dns-prefix"], *filter(None, BAD["dns-prefix"])):
        named = {"configMapRef": {"name": text}}
        for generated, source in (({"generateName": text}, []), ({}, [named])):
            container = {"name": "a", "image": "a", "envFrom": source}
            pod = {"metadata": {"name": "a", **generated}, "spec": {"containers": [container]}}
            status, answer = cluster.api.request("POST", "/api/v1/namespaces/default/pods", pod, {"dryRun": "All"})
            assert status == (201 if accepts("dns-prefix")(text) else 422), answer


def by_pattern(name: str, text: str) -> bool:
    form = FORMATS[name]
    return re.fullmatch(form.pattern, text) is not None and (not form.max_length or len(text) <= form.max_length)


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.pattern and form.test])
@given(data=st.data())
def test_test_and_pattern_say_the_same(name: str, data: st.DataObject) -> None:
    near = st.text(alphabet="aA0-_./: é", max_size=8) | st.sampled_from([*GOOD[name], *BAD[name]])
    # `$` within a pattern stands before a line end too, in Python only; no field can tell.
    text = data.draw(near.filter(lambda text: "\n" not in text))
    assert accepts(name)(text) == by_pattern(name, text)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("dns-label", "Worker_1", "worker-1"),
        ("dns-label", " a ", "a"),
        ("framework-name", "Train", "train"),
        ("framework-name", "My-Train", "mytrain"),
        ("env-name", "MY VAR", "MY_VAR"),
        ("port-name", "HTTP", "http"),
        ("local-path", "/a/b", "a/b"),
        ("dns-label", "!", None),
    ],
)
def test_suggestions(name: str, text: str, expected: str | None) -> None:
    assert suggestion(name, text) == expected
