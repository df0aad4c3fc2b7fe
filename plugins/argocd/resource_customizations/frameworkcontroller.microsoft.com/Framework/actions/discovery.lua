local spec = obj.spec or {}
local kind = spec.executionType or "Start"
local over = obj.status ~= nil and obj.status.state == "Completed"

-- One field for each role; those that are left empty stay as they are.
local numbers = {}
for _, role in ipairs(spec.taskRoles or {}) do
  table.insert(numbers, { name = role.name })
end

local actions = {}
actions["start"] = { iconClass = "fa fa-fw fa-play", disabled = over or kind ~= "Create" }
actions["stop"] = { iconClass = "fa fa-fw fa-stop", disabled = over or kind == "Stop" }
actions["scale"] = { iconClass = "fa fa-fw fa-plus-circle", disabled = over or kind == "Stop" or #numbers == 0, params = numbers }
return actions
