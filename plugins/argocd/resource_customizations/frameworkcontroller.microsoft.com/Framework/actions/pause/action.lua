obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["frameworkcontroller.microsoft.com/pause"] = "true"
return obj
