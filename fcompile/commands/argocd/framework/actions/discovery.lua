local spec = obj.spec or {}
local kind = spec.executionType or "Start"
local state = (obj.status or {}).state
local paused = ((obj.metadata or {}).annotations or {})["frameworkcontroller.microsoft.com/pause"] == "true"
-- Nothing has begun that could be ended.
local idle = kind == "Create" or state == nil or state == "AttemptCreationPending"
local over = state == "Completed"

-- One field for each role; those that are left empty stay as they are.
local numbers = {}
for _, role in ipairs(spec.taskRoles or {}) do
  table.insert(numbers, { name = role.name })
end

local actions = {}
actions["start"] = { iconClass = "fa fa-fw fa-play", disabled = over or kind ~= "Create" }
actions["stop"] = { iconClass = "fa fa-fw fa-stop", disabled = over or kind == "Stop" }
actions["scale"] = { iconClass = "fa fa-fw fa-plus-circle", disabled = over or kind == "Stop" or #numbers == 0, params = numbers }
actions["pause"] = { iconClass = "fa fa-fw fa-pause", disabled = over or kind == "Stop" or paused }
actions["resume"] = { iconClass = "fa fa-fw fa-forward", disabled = not paused }
actions["restart"] = { iconClass = "fa fa-fw fa-redo", disabled = over or kind == "Stop" or idle }
return actions
