/** The operations. Every write is conditional on the grant. */
export const operationsLua = `
local function grant(record, id, owner, ttl, metadata, token, previous)
  raise_floor(token)
  local length = duration(ttl)
  -- The token of a new grant is its time, unless the last token was not below the clock.
  if not floor_key and token > micros and token ~= record.token then
    redis.call('HSET', record.key, 'granted', whole(token) .. ' ' .. now)
  end
  record.state, record.grant, record.ttl, record.token = 'leased', id, ttl, token
  record.ends = length == math.huge and length or micros + length * 1000
  record.has_reason = false
  keep(record)
  redis.call('HSET', record.key, 'owner', owner, 'metadata', metadata, 'previous', previous)
  return { 'granted', whole(token), previous }
end

local function is_in_force(record, id) return record.locked and record.state == 'leased' and record.grant == id end

-- The new value of the field previous when another grant follows.
local function left_by(record)
  if not record.exists then return '' end
  local f = redis.call('HMGET', record.key, 'metadata', 'reason')
  local left = whole(record.token) .. ' ' .. (f[1] or '{}')
  if record.has_reason and f[2] then left = left .. '\\n' .. f[2] end
  return left
end

-- The metadata of a grant whose claim has none: as the last holder left it. In a quorum, other members may have older
-- metadata, so that a member adds the token of the grant that wrote it: see latestMetadata.
local function unchanged(record, token)
  local metadata = record.exists and redis.call('HGET', record.key, 'metadata') or '{}'
  if not floor_key or string.find(metadata, '"\\\\u0000revision":', 1, true) then return metadata end
  local revision = '{"\\\\u0000revision":"' .. whole(token or record.token) .. ' 0"'
  return metadata == '{}' and revision .. '}' or revision .. ',' .. string.sub(metadata, 2)
end

local operations = {}

function operations.acquire(record, args)
  local id, ttl, queue, metadata, owner = string.match(args, CLAIM)
  if is_in_force(record, id) then
    if metadata == '' then metadata = redis.call('HGET', record.key, 'metadata') end
    return grant(record, id, owner, ttl, metadata, record.token, redis.call('HGET', record.key, 'previous') or '')
  end
  if not record.locked then
    local first = first_of(record)
    if not first or first.id == id then
      if first then leave(record, first.number, id) end
      if metadata == '' then metadata = unchanged(record) end
      return grant(record, id, owner, ttl, metadata, next_token(record), left_by(record))
    end
  end
  local place, echo = '', ''
  if queue == 'queue' then place, echo = wait(record, id, duration(ttl)) end
  return with_holder({ 'refused', place, echo }, record)
end

-- A late duplicate of a claim can be granted again, under the same id and with a larger token: the earlier grant stays over.
local function is_later(record, id, token) return record.state == 'leased' and record.grant == id and record.token > token end

function operations.renew(record, id, token)
  if not record.exists then return { 'ended', 'deleted' } end
  if record.grant ~= id then return with_holder({ 'ended', 'taken' }, record) end
  if record.state == 'breaking' then return with_holder({ 'ended', 'broken' }, record) end
  if record.state ~= 'leased' then return { 'ended', 'expired' } end
  if is_later(record, id, tonumber(token)) then return { 'later' } end
  if record.ends < math.huge then record.ends = micros + duration(record.ttl) * 1000 end
  keep(record)
  return 'renewed'
end

-- The grant keeps its time, and its metadata those of a grant under its earlier token. A token that is as large already stays.
function operations.raise(record, args)
  local id, before, token = string.match(args, '^(%S+) (%S+) (%S+)$')
  local wanted = math.max(tonumber(before), tonumber(token))
  token = math.max(record.token, tonumber(token))
  if record.grant == id and record.state == 'leased' and not is_later(record, id, wanted) then raise_floor(token) end
  local answer = operations.renew(record, id, wanted)
  if answer ~= 'renewed' or token == record.token then return answer end
  local granted = time_of(record, redis.call('HGET', record.key, 'granted'))
  local metadata = unchanged(record, math.min(record.token, tonumber(before)))
  redis.call('HSET', record.key, 'metadata', metadata, 'granted', whole(token) .. ' ' .. granted)
  record.token = token
  keep(record)
  return answer
end

function operations.update(record, args)
  local id, token, metadata = string.match(args, '^(%S+) (%S+) (.*)$')
  local answer = operations.renew(record, id, token)
  if answer == 'renewed' then redis.call('HSET', record.key, 'metadata', metadata) end
  return answer
end

local function free(record)
  record.state, record.locked = 'available', false
  if record.ends == math.huge then record.ends = micros end
  keep(record)
  wake(record)
  return 'released'
end

local function is_last(record, id) return record.exists and record.grant == id and record.state ~= 'available' end

function operations.release(record, args)
  local id, token, metadata = string.match(args, '^(%S+) ?(%S*) ?(.*)$')
  if not is_last(record, id) then return with_holder({ 'unreleased' }, record) end
  if metadata ~= '' and record.token <= tonumber(token) then
    redis.call('HSET', record.key, 'metadata', metadata)
    record.has_reason = false
  end
  return free(record)
end

function operations.read(record)
  if not record.exists then return { 'none' } end
  local answer = described({ 'record' }, record)
  answer[#answer + 1] = waiting(record)
  return answer
end

function operations.change(record, args)
  local id, to, owner = string.match(args, '^(%S+) (%S+) (.*)$')
  local is_repeated = is_in_force(record, to)
  if not is_repeated and not is_in_force(record, id) then return with_holder({ 'refused', '', '' }, record) end
  local metadata = unchanged(record)
  local previous = is_repeated and redis.call('HGET', record.key, 'previous') or left_by(record)
  pass_turn(record, to)
  return grant(record, to, owner, record.ttl, metadata, is_repeated and record.token or next_token(record), previous)
end

-- Breaking an expired lease does not lock it again. The id %any stands for every grant.
operations['break'] = function(record, args)
  local period, id, reason = string.match(args, '^(%S+) (%S+) (.*)$')
  if not record.exists or record.state == 'available' then return { 'free' } end
  if id ~= '%any' and record.grant ~= id then return { 'other' } end
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

-- What the server says of itself. A section is empty where the user may not ask.
function operations.probe()
  local answer = { 'probed', whole(micros) }
  for _, section in ipairs({ 'memory', 'replication', 'persistence' }) do
    local info = redis.pcall('INFO', section)
    answer[#answer + 1] = type(info) == 'string' and info or ''
  end
  return answer
end

-- For a number of milliseconds, the channel of the caller is notified when the name may be free.
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
`
