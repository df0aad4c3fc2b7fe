-- The health of a Framework from the status that its controller writes, FrameworkController's own or fcompile's.
-- The states are those of docs/states.md in the repository of fcompile.
local spec = obj.spec or {}
local status = obj.status or {}
local attempt = status.attemptStatus or {}
local stopping = spec.executionType == "Stop"
-- Of what is not to run: executionType Create or Stop. A sync goes past "Healthy", and waits at "Suspended".
local at_rest = "Suspended"

-- Conditions that are False while something waits, and say why.
local waits = { IntentStored = true, PodsCreated = true, PodsStarted = true, ObjectsDeleted = true, ScaleAccepted = true }

local function result(health, message)
  local retries = (status.retryPolicyStatus or {}).totalRetriedCount or 0
  if retries > 0 then
    message = "attempt " .. (retries + 1) .. ": " .. message
  end
  for _, condition in ipairs(status.conditions or {}) do
    local counts = condition.type == "PodsUpToDate" or (health == "Progressing" and waits[condition.type])
    if counts and condition.status == "False" then
      message = message .. "; " .. (condition.message or condition.type)
    end
  end
  return { status = health, message = message }
end

-- How the attempt ended: "ContainerFailed (code 1): what happened".
local function ending()
  local completion = attempt.completionStatus or {}
  local message = completion.phrase or "ended"
  if completion.code ~= nil and completion.code ~= 0 then
    message = message .. " (code " .. completion.code .. ")"
  end
  if completion.diagnostics ~= nil and completion.diagnostics ~= "" then
    message = message .. ": " .. completion.diagnostics
  end
  return message
end

-- How many tasks run, are completed, and are there at all; nothing when the status does not say so.
local function counts()
  local known = status.taskCounts
  if known ~= nil then
    return known.running, known.completed, known.total
  end
  if attempt.taskRoleStatuses == nil then
    return nil
  end
  local running, completed, total = 0, 0, 0
  for _, role in ipairs(attempt.taskRoleStatuses) do
    for _, task in ipairs(role.taskStatuses or {}) do
      if not task.deletionPending then
        total = total + 1
        if task.state == "AttemptRunning" then
          running = running + 1
        elseif task.state == "Completed" then
          completed = completed + 1
        end
      end
    end
  end
  return running, completed, total
end

-- Whether it is never completed by itself: whatever ends is begun again.
local function serves()
  local function forever(policy)
    return policy ~= nil and policy.maxRetryCount == -2
  end
  if forever(spec.retryPolicy) then
    return true
  end
  local found = false
  for _, role in ipairs(spec.taskRoles or {}) do
    if role.taskNumber ~= 0 then
      found = true
      if not forever((role.task or {}).retryPolicy) then
        return false
      end
    end
  end
  return found
end

local function under_way(what)
  local running, completed, total = counts()
  if running == nil then
    if status.state == "AttemptRunning" and serves() then
      return result("Healthy", "tasks run")
    end
    return result("Progressing", what)
  end
  local message = running .. " of " .. total .. " tasks run"
  if completed > 0 then
    message = message .. ", " .. completed .. " completed"
  end
  if status.state == "AttemptRunning" and serves() and running == total then
    return result("Healthy", message)
  end
  return result("Progressing", message)
end

local function completed()
  local completion = attempt.completionStatus or {}
  if completion.code == -210 then
    return result(at_rest, "stopped, as executionType says")
  end
  if (completion.type or {}).name == "Succeeded" then
    return result("Healthy", ending())
  end
  return result("Degraded", ending())
end

local waiting = {
  AttemptCreationPending = "waits to be started",
  AttemptCreationRequested = "starts",
  AttemptPreparing = "its tasks start",
  AttemptRunning = "tasks run",
  AttemptDeletionPending = "its objects are deleted",
  AttemptDeletionRequested = "its objects are deleted",
  AttemptDeleting = "its objects are deleted",
  AttemptCompleted = "its objects are deleted",
}

if status.state == "Completed" then
  return completed()
end
-- What runs is not what was reviewed, or a role goes without the Service that it asks for.
local wrong = { IntentReviewed = true, ServicesMade = true }
local paused = nil
for _, condition in ipairs(status.conditions or {}) do
  if wrong[condition.type] and condition.status == "False" and not stopping then
    return result("Degraded", condition.message)
  end
  if condition.type == "Paused" and condition.status == "True" and not stopping then
    paused = condition.message
  end
end
if paused ~= nil then
  return result("Suspended", paused)
end
if spec.executionType == "Create" and (status.state == nil or status.state == "AttemptCreationPending") then
  return result(at_rest, "waits to be started: executionType is Create")
end
if status.state == nil then
  if spec.managedBy ~= nil then
    return result("Progressing", "waits for " .. spec.managedBy)
  end
  return result("Progressing", "waits for the controller")
end
local what = waiting[status.state]
if what == nil then
  return result("Unknown", "unknown state " .. status.state)
end
if stopping then
  return result("Progressing", "is being stopped")
end
if attempt.completionStatus ~= nil then
  if status.state == "AttemptCompleted" and (status.retryPolicyStatus or {}).retryDelaySec ~= nil then
    return result("Progressing", ending() .. "; is tried again")
  end
  return result("Progressing", ending() .. "; " .. what)
end
if status.state == "AttemptPreparing" or status.state == "AttemptRunning" then
  return under_way(what)
end
return result("Progressing", what)
