local os = require("os")
obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["frameworkcontroller.microsoft.com/restart"] = os.date("!%Y-%m-%dT%XZ")
return obj
