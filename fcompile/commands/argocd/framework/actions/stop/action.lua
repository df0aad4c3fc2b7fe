obj.spec.executionType = "Stop"
return obj
