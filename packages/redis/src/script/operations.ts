/** What can be asked for. Every write is conditional on the grant. */
export const operationsLua = `
local function grant(record, id, owner, ttl, metadata, token)
  raise_floor(token)
  local length = duration(ttl)
  record.state, record.grant, record.ttl, record.token = 'leased', id, ttl, token
  record.ends = length == math.huge and length or micros + length * 1000
  record.has_reason = false
  keep(record)
  redis.call('HSET', record.key, 'owner', owner, 'metadata', metadata)
  return { 'granted', whole(token), ttl }
end

local function is_in_force(record, id) return record.locked and record.state == 'leased' and record.grant == id end

local operations = {}

function operations.acquire(record, told)
  local id, ttl, queue, metadata, owner = string.match(told, CLAIM)
  if is_in_force(record, id) then
    if metadata == '' then metadata = redis.call('HGET', record.key, 'metadata') end
    return grant(record, id, owner, ttl, metadata, record.token)
  end
  if not record.locked then
    local first = first_of(record)
    if not first or first.id == id then
      if first then leave(record, first.number, id) end
      return grant(record, id, owner, ttl, metadata == '' and '{}' or metadata, next_token(record))
    end
  end
  local place, echo = '', ''
  if queue == 'queue' then place, echo = wait(record, id, duration(ttl)) end
  return with_holder({ 'refused', place, echo }, record)
end

function operations.renew(record, id)
  if not record.exists then return { 'ended', 'deleted' } end
  if record.grant ~= id then return with_holder({ 'ended', 'taken' }, record) end
  if record.state == 'breaking' then return with_holder({ 'ended', 'broken' }, record) end
  if record.state ~= 'leased' then return { 'ended', 'expired' } end
  if record.ends < math.huge then record.ends = micros + duration(record.ttl) * 1000 end
  keep(record)
  return 'renewed'
end

function operations.release(record, id)
  if not record.exists or record.grant ~= id or record.state == 'available' then
    return with_holder({ 'unreleased' }, record)
  end
  record.state, record.locked = 'available', false
  if record.ends == math.huge then record.ends = micros end
  keep(record)
  wake(record)
  return 'released'
end

function operations.read(record)
  if not record.exists then return { 'none' } end
  return described({ 'record' }, record)
end

function operations.change(record, told)
  local id, to, owner = string.match(told, '^(%S+) (%S+) (.*)$')
  if not is_in_force(record, id) and not is_in_force(record, to) then
    return with_holder({ 'refused', '', '' }, record)
  end
  local metadata = redis.call('HGET', record.key, 'metadata')
  return grant(record, to, owner, record.ttl, metadata, record.grant == to and record.token or next_token(record))
end

-- What has expired is not locked any longer by being broken.
operations['break'] = function(record, told)
  local period, reason = string.match(told, '^(%S+) (.*)$')
  if not record.exists or record.state == 'available' then return { 'free' } end
  local remaining = math.max(math.min(record.ends - micros, duration(period) * 1000), 0)
  if remaining == math.huge then remaining = 0 end
  record.state, record.ends = 'breaking', math.floor(micros + remaining)
  record.locked = remaining > 0
  if reason ~= '' then
    redis.call('HSET', record.key, 'reason', reason)
    record.has_reason = true
  end
  keep(record)
  wake(record)
  return { 'broken', whole(math.ceil(remaining / 1000)) }
end

function operations.withdraw(record, id)
  local number = record.has_line and redis.call('HGET', record.key, 'w:' .. id)
  if not number then return 'done' end
  leave(record, tonumber(number), id)
  if tonumber(number) == parse_line(record) and not record.locked then wake(record) end
  return 'done'
end

-- The grant has the token that a quorum has agreed on.
function operations.raise(record, told)
  local id, token = string.match(told, '^(%S+) (%S+)$')
  if not is_in_force(record, id) then return with_holder({ 'refused', '', '' }, record) end
  local raised = math.max(record.token, tonumber(token))
  raise_floor(raised)
  record.token, record.is_changed = raised, true
  return { 'granted', whole(record.token), record.ttl }
end

-- The grant that a majority of a quorum has, under the token on which they have agreed: the record of this member may have a
-- larger one, of a claim of which no majority came. Tokens to come are above the floor.
function operations.repair(record, told)
  local id, ttl, token, metadata, owner = string.match(told, CLAIM)
  if record.locked and not is_in_force(record, id) then return with_holder({ 'refused', '', '' }, record) end
  raise_floor(record.token)
  return grant(record, id, owner, ttl, metadata, tonumber(token))
end

function operations.floor() return { 'floor', floor and whole(floor) or '', whole(micros) } end

-- The floor of the other members of a quorum.
function operations.learn(record, least)
  floor = math.max(floor or 0, tonumber(least))
  redis.call('HSET', floor_key, 'floor', whole(floor))
  return 'learned'
end

-- For so many milliseconds, the channel of the caller is told when the name may be free.
function operations.watch(record, period)
  local others = ''
  for channel, ends in string.gmatch(redis.call('HGET', record.key, 'watchers') or '', '(%S+) (%d+)') do
    if channel ~= CHANNEL and micros < tonumber(ends) then others = others .. channel .. ' ' .. ends .. ' ' end
  end
  redis.call('HSET', record.key, 'watchers', others .. CHANNEL .. ' ' .. whole(micros + tonumber(period) * 1000))
  record.is_watched = true
  keep(record)
  return operations.read(record)
end

local function perform(key, lease, operation, told)
  local record = find(key, lease)
  local answer = operations[operation](record, told)
  if record.is_changed then store(record) end
  return answer, record.is_changed
end
`
