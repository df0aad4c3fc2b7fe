"""The Kubernetes 1.x minor version from which a feature of Pods works without switching on a feature gate.

Before that version the API server takes the field out of a new Pod without a word (`dropped` warns of it), and so no rule about it is
in force. `KNOWS_…`: the first version whose API has the field at all.
"""

from __future__ import annotations

NEVER = 1_000
"""Behind a gate in every version that is known."""

EXPANDED_DNS = 26
MIN_DOMAINS = 27
SCHEDULING_GATES = 27
SPREAD_MATCH_LABEL_KEYS = 27
SPREAD_SELECTORS = 27
"""From here on the label selectors of topology spread constraints are looked at."""
KNOWS_SIDECARS = 28
HOST_IPS_FIELD = 29
KNOWS_SLEEP = 29
SIDECARS = 29
APP_ARMOR_PROFILE = 30
SLEEP = 30
AFFINITY_MATCH_LABEL_KEYS = 31
RECURSIVE_READ_ONLY = 31
KNOWS_STOP_SIGNAL = 33
HOST_USERS = 33
PROC_MOUNT = 33
RESIZE_POLICY = 33
SELINUX_CHANGE_POLICY = 33
SLEEP_ZERO = 33
SUPPLEMENTAL_GROUPS_POLICY = 33
KNOWS_RESTART_RULES = 34
POD_LEVEL_RESOURCES = 34
RESOURCE_CLAIMS = 34
SPREAD_SELECTOR_MERGE = 34
CONTAINER_RESTART_RULES = 35
ENV_FILES = 35
HOSTNAME_OVERRIDE = 35
IMAGE_VOLUMES = 35
RESTART_ALL_CONTAINERS = 36
SERVICE_NAMES_WITH_DIGIT_FIRST = 36
CLUSTER_TRUST_BUNDLES = 37
POD_CERTIFICATES = 37
POD_LEVEL_LIMITS = 37
