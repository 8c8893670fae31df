import type { OldRedisLibrary } from './redis-compat.js'

/**
 * The operations of a store that holds the key of another lock together with the lease. Lease and key change in one script,
 * so that no order of locking exists that could deadlock, and no instant at which only one of them is held.
 *
 * The key has the grant id as its value: the other libraries compare it with their own and change nothing of another's.
 * `old_key` is the key that belongs to the operation.
 */
export function compatLua(library: OldRedisLibrary): string {
  return `
local function old_value()
  local value = redis.pcall('GET', old_key)
  if type(value) ~= 'table' then return value end
  if string.find(value.err, 'WRONGTYPE', 1, true) then error('OLDLOCK ' .. old_key .. ' is no string', 0) end
  error(value.err, 0)
end

-- The value of the other lock, if a process of the other library holds it; nil for a value that an earlier grant of this lease
-- has left in the key.
local function foreign(record, id)
  local value = old_value()
  if value and value ~= id and not (record.exists and value == record.grant) then return value end
end

-- The key ends in whole milliseconds, and the lease in microseconds: with one more, the key never ends first.
local function hold_old(id, ttl)
  if ttl == 'never' then redis.call('SET', old_key, id)
  else redis.call('SET', old_key, id, 'PX', whole(tonumber(ttl) + 1)) end
end

local function free_old(id)
  if old_value() == id then redis.call('DEL', old_key) end
end

-- Adds the holder of the other lock, with the time that is left of its key. The client decodes its id.
local function with_old_holder(answer, record, value)
  local left = redis.call('PTTL', old_key)
  left = left < 0 and 'never' or whole(math.max(left, 1))
  local id = string.gsub(value, '[^%w_-]', function(c) return c < '\\128' and string.format('%%%02X', string.byte(c)) or '_' end)
  local fields = { 'leased', id == '' and '%' or id, '${library}', whole(record.token), left, left, '{}', '', '', '' }
  for i = 1, 10 do answer[#answer + 1] = fields[i] end
  return answer
end

local lease = {}
for name, operation in pairs(operations) do lease[name] = operation end

function operations.acquire(record, args)
  local id, ttl, queue = string.match(args, CLAIM)
  local value = foreign(record, id)
  -- Where both are held by others, the holder of the lease is shown: it learns of its loss by its next heartbeat.
  if value and not (record.locked and record.grant ~= id) then
    if is_in_force(record, id) then free(record) end
    local place, echo = '', ''
    if queue == 'queue' then
      place, echo = wait(record, id, duration(ttl))
      keep(record)
    end
    -- The other library notifies nobody when it releases.
    if place == 'first' then place = 'poll' end
    return with_old_holder({ 'refused', place, echo }, record, value)
  end
  local answer = lease.acquire(record, args)
  if answer[1] == 'granted' then hold_old(id, ttl) end
  return answer
end

-- A grant without its key is lost, also if the key is gone: another process may have held it and released it meanwhile.
function operations.renew(record, id, token)
  if record.exists and record.state == 'leased' and record.grant == id then
    local value = old_value()
    if value ~= id then
      local was_locked = record.locked
      free(record)
      if value then return with_old_holder({ 'ended', 'taken' }, record, value) end
      return { 'ended', was_locked and 'deleted' or 'expired' }
    end
  end
  local answer = lease.renew(record, id, token)
  if answer == 'renewed' then hold_old(id, record.ttl) end
  return answer
end

local function released(operation)
  return function(record, args)
    local id = string.match(args, '^%S+')
    local answer = operation(record, args)
    free_old(id)
    if answer == 'released' or record.locked then return answer end
    local value = foreign(record, id)
    return value and with_old_holder(answer, record, value) or answer
  end
end

operations.release = released(lease.release)

function operations.read(record)
  local value = not record.locked and foreign(record)
  if not value then return lease.read(record) end
  local answer = with_old_holder({ 'record' }, record, value)
  answer[#answer + 1] = waiting(record)
  return answer
end

function operations.change(record, args)
  local id, to = string.match(args, '^(%S+) (%S+) ')
  if is_in_force(record, id) or is_in_force(record, to) then
    local value = old_value()
    if value ~= record.grant then
      return value and with_old_holder({ 'refused', '', '' }, record, value) or { 'refused', '', '' }
    end
  end
  local answer = lease.change(record, args)
  if answer[1] == 'granted' then hold_old(to, record.ttl) end
  return answer
end

operations['break'] = function(record, args)
  local answer = lease['break'](record, args)
  if answer[1] == 'broken' and old_value() == record.grant then
    if record.locked then redis.call('PEXPIRE', old_key, answer[2] + 1) else redis.call('DEL', old_key) end
  end
  return answer
end

-- Of a member of a quorum.
if lease.retract then operations.retract = released(lease.retract) end

if lease.repair then
  function operations.repair(record, args)
    local id, ttl = string.match(args, '^(%S+) (%S+) ')
    local value = foreign(record, id)
    if value then return with_old_holder({ 'refused', '', '' }, record, value) end
    local answer = lease.repair(record, args)
    if answer[1] == 'granted' then hold_old(id, ttl) end
    return answer
  end
end
`
}
