"""The fields of kustomize's files, and which of them make it read something else.

kustomize reads its files with a JSON decoder that takes a key in any case, and reads what it is told to wherever that lies. So these tables
are complete: a key that is not in them, letter for letter, is refused, also where no path can stand. They are those of kustomize 5.8; a
field that a later one adds is refused until somebody has looked at what it reads.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class Read(Enum):
    """What kustomize does with a string."""

    NOTHING = "keeps it; lists and mappings of whatever keys can stand here too"
    FILE = "opens the file of that name"
    FOLDER = "builds the kustomization of that folder"
    FILE_OR_FOLDER = "tries one, then the other"
    TEXT_FILE = "opens the file of that name, and parses no YAML in it"
    NAMED_FILE = "the same, with a `key=` before the name or alone"
    FILE_OR_YAML = "parses it, and opens the file of that name when that fails"
    YAML = "parses it"
    PLUGIN = "parses it as the configuration of a plugin, else looks for that in the file or folder of that name"
    HELM = "runs Helm"


Shape = Read | list["Shape"] | dict[str, "Shape"]
"""What may stand at a place: a string, a list of one shape, or a mapping with these keys."""

_ANY: Final = Read.NOTHING


def _kept(*keys: str) -> dict[str, Shape]:
    """Return the fields that kustomize keeps."""
    return dict.fromkeys(keys, _ANY)


_ID: Final = _kept("group", "version", "kind", "name", "namespace")
_SELECTOR: Final[Shape] = {**_ID, **_kept("annotationSelector", "labelSelector")}
_FIELD_SPECS: Final[Shape] = [_kept("group", "version", "kind", "path", "create")]
_PATCH: Final[dict[str, Shape]] = {
    "path": Read.FILE,
    "patch": Read.YAML,
    "target": _SELECTOR,
    "options": _kept("allowNameChange", "allowKindChange"),
}
_FIELD_OPTIONS: Final[Shape] = _kept("delimiter", "index", "encoding", "create")
_REPLACEMENTS: Final[Shape] = [
    {
        "path": Read.FILE,
        "source": {**_ID, "fieldPath": _ANY, "options": _FIELD_OPTIONS},
        "sourceValue": _ANY,
        "targets": [{"select": _SELECTOR, "reject": [_SELECTOR], "fieldPaths": [_ANY], "options": _FIELD_OPTIONS}],
    }
]
_GENERATOR: Final[dict[str, Shape]] = {
    **_kept("name", "namespace", "behavior"),
    "literals": [_ANY],
    "files": [Read.NAMED_FILE],
    "envs": [Read.TEXT_FILE],
    "env": Read.TEXT_FILE,
    "options": _kept("labels", "annotations", "disableNameSuffixHash", "immutable"),
}
_SECRET_GENERATOR: Final[dict[str, Shape]] = {**_GENERATOR, "type": _ANY}
_IMAGE: Final = _kept("name", "newName", "tagSuffix", "newTag", "digest")
_REPLICA: Final = _kept("name", "count")
_SORT_OPTIONS: Final[Shape] = {"order": _ANY, "legacySortOptions": {"orderFirst": [_ANY], "orderLast": [_ANY]}}
_TYPE: Final = _kept("apiVersion", "kind", "metadata")
_VAR: Final[dict[str, Shape]] = {"name": _ANY, "objref": _kept("apiVersion", *_ID), "fieldref": _kept("fieldPath", "fieldpath")}
"""Its documentation has the second spelling."""

KUSTOMIZATION: Final[dict[str, Shape]] = {
    **_TYPE,
    **_kept("commonAnnotations", "commonLabels", "namePrefix", "nameSuffix", "namespace"),
    **dict.fromkeys(("helmChartInflationGenerator", "helmCharts", "helmGlobals"), Read.HELM),
    **{key: [Read.PLUGIN] for key in ("generators", "transformers", "validators")},
    "bases": [Read.FILE_OR_FOLDER],
    "buildMetadata": [_ANY],
    "components": [Read.FOLDER],
    "configMapGenerator": [_GENERATOR],
    "configurations": [Read.FILE],
    "crds": [Read.FILE],
    "generatorOptions": _GENERATOR["options"],
    "imageTags": [_IMAGE],
    "images": [_IMAGE],
    "labels": [{**_kept("pairs", "includeSelectors", "includeTemplates"), "fields": _FIELD_SPECS}],
    "openapi": {"path": Read.FILE, "version": _ANY},
    "patches": [_PATCH],
    "patchesJson6902": [_PATCH],
    "patchesStrategicMerge": [Read.FILE_OR_YAML],
    "replacements": _REPLACEMENTS,
    "replicas": [_REPLICA],
    "resources": [Read.FILE_OR_FOLDER],
    "secretGenerator": [_SECRET_GENERATOR],
    "sortOptions": _SORT_OPTIONS,
    "vars": [_VAR],
}
"""A kustomization, or a component."""

PLUGIN_FOLDER: Final[dict[str, Shape]] = {**_TYPE, "resources": [Read.PLUGIN]}
"""A kustomization that plugins are configured in: whatever else it did could change what they read."""

_PLUGIN_FIELDS: Final[dict[str, dict[str, Shape]]] = {
    "AnnotationsTransformer": {"annotations": _ANY, "fieldSpecs": _FIELD_SPECS},
    "ConfigMapGenerator": _GENERATOR,
    "HashTransformer": {},
    "IAMPolicyGenerator": _kept("cloud", "kubernetesService", "serviceAccount"),
    "ImageTagTransformer": {"imageTag": _IMAGE, "fieldSpecs": _FIELD_SPECS},
    "LabelTransformer": {"labels": _ANY, "fieldSpecs": _FIELD_SPECS},
    "NamespaceTransformer": {**_kept("unsetOnly", "setRoleBindingSubjects"), "fieldSpecs": _FIELD_SPECS},
    "PatchJson6902Transformer": {"target": _SELECTOR, "path": Read.FILE, "jsonOp": Read.YAML},
    "PatchStrategicMergeTransformer": {"paths": [Read.FILE_OR_YAML], "patches": Read.YAML},
    "PatchTransformer": _PATCH,
    "PrefixTransformer": {"prefix": _ANY, "fieldSpecs": _FIELD_SPECS},
    "ReplacementTransformer": {"replacements": _REPLACEMENTS},
    "ReplicaCountTransformer": {"replica": _REPLICA, "fieldSpecs": _FIELD_SPECS},
    "SecretGenerator": _SECRET_GENERATOR,
    "SortOrderTransformer": {"sortOptions": _SORT_OPTIONS},
    "SuffixTransformer": {"suffix": _ANY, "fieldSpecs": _FIELD_SPECS},
    "ValueAddTransformer": {
        "value": _ANY,
        "targets": [{"selector": _SELECTOR, "fieldPath": _ANY, "filePathPosition": _ANY}],
        "targetFilePath": Read.FILE,
    },
}

PLUGINS: Final = {kind: {**_TYPE, **fields} for kind, fields in _PLUGIN_FIELDS.items()}
"""The plugins that are built in, by their kind."""
