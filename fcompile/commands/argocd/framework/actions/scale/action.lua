local MOST = 10000
local changed = false

for _, role in ipairs(obj.spec.taskRoles or {}) do
  local written = actionParams[role.name]
  if written ~= nil and written ~= "" then
    local number = tonumber(written)
    if number == nil or number % 1 ~= 0 or number < 0 or number > MOST then
      error("role " .. role.name .. ": write a whole number from 0 to " .. MOST .. ", not " .. written, 0)
    end
    role.taskNumber = number
    changed = true
  end
end
if not changed then
  error("write a number of tasks for at least one role", 0)
end
return obj
