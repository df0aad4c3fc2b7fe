if (obj.spec.executionType or "Start") ~= "Create" then
  error("a Framework can be started once, while its executionType is Create", 0)
end
obj.spec.executionType = "Start"
return obj
