local annotations = obj.metadata.annotations or {}
annotations["frameworkcontroller.microsoft.com/pause"] = nil
-- Lua cannot tell an empty mapping from an empty list, and Argo CD puts back the mapping that was there.
obj.metadata.annotations = next(annotations) and annotations
return obj
