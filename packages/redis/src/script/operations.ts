/**
 * The third part: what can be asked for. Every write is conditional on the grant. Those that are asked for all the time
 * come first; no table of functions, for the server makes all that is in the script anew at every call.
 */
export const operationsLua = `
local function grant(record, id, owner, ttl, metadata, token)
  local length, written = duration(ttl), whole(token)
  redis.call('HSET', record.key, 'state', 'leased', 'grant', id, 'owner', owner, 'token', written, 'ttl', ttl,
    'until', length == math.huge and 'inf' or exact(now + length), 'metadata', metadata, 'reason', '')
  keep(record, length)
  return { 'granted', written, ttl }
end

local function is_in_force(record, id) return record.locked and record.state == 'leased' and record.grant == id end

local function acquire(record, id, owner, ttl, metadata, queue)
  if is_in_force(record, id) then
    if metadata == '' then metadata = redis.call('HGET', record.key, 'metadata') end
    return grant(record, id, owner, ttl, metadata, record.token)
  end
  if not record.locked then
    local first = record.line and line().first(record)
    if not first or first.id == id then
      if first then line().leave(record, first.number, id) end
      return grant(record, id, owner, ttl, metadata == '' and '{}' or metadata, next_token(record))
    end
  end
  local place, echo = '', ''
  if queue == '1' then place, echo = line().wait(record, id, duration(ttl)) end
  return with_holder({ 'refused', place, echo }, record)
end

local function renew(record, id)
  if not record.state then return { 'ended', 'deleted' } end
  if record.grant ~= id then return with_holder({ 'ended', 'taken' }, record) end
  if record.state == 'breaking' then return with_holder({ 'ended', 'broken' }, record) end
  if record.state ~= 'leased' then return { 'ended', 'expired' } end
  local ttl = duration(record.ttl)
  if ttl < math.huge then redis.call('HSET', record.key, 'until', exact(now + ttl)) end
  keep(record, ttl)
  return { 'renewed' }
end

local function release(record, id)
  if not record.state or record.grant ~= id or record.state == 'available' then
    return with_holder({ 'unreleased' }, record)
  end
  redis.call('HSET', record.key, 'state', 'available')
  if record.ends == math.huge then keep(record, 0) end
  if record.line or record.watchers then line().wake(record) end
  return { 'released' }
end

local function other(operation, record, a, b, c)
  if operation == 'read' then
    if not record.state then return { 'none' } end
    return described({ 'record' }, record)
  end

  -- The grant a goes over to b, of the owner c.
  if operation == 'change' then
    if is_in_force(record, a) or is_in_force(record, b) then
      local metadata = redis.call('HGET', record.key, 'metadata')
      return grant(record, b, c, record.ttl, metadata, record.grant == b and record.token or next_token(record))
    end
    return with_holder({ 'refused', '', '' }, record)
  end

  -- Within the period a, for the reason b. What has expired is not locked any longer by being broken.
  if operation == 'break' then
    if not record.state or record.state == 'available' then return { 'free' } end
    local remaining = math.max(math.min(record.ends - now, duration(a)), 0)
    if remaining == math.huge then remaining = 0 end
    redis.call('HSET', record.key, 'state', 'breaking', 'until', exact(now + remaining))
    if b ~= '' then redis.call('HSET', record.key, 'reason', b) end
    keep(record, remaining)
    line().wake(record)
    return { 'broken', whole(math.ceil(remaining)) }
  end

  if operation == 'withdraw' then
    local number = record.line and redis.call('HGET', record.key, 'w:' .. a)
    if not number then return { 'done' } end
    line().leave(record, tonumber(number), a)
    if tonumber(number) == line().head(record) and not record.locked then line().wake(record) end
    return { 'done' }
  end

  -- The grant a has the token b, which a quorum has agreed on.
  if operation == 'raise' then
    if not is_in_force(record, a) then return with_holder({ 'refused', '', '' }, record) end
    local raised = whole(math.max(record.token, tonumber(b)))
    redis.call('HSET', record.key, 'token', raised)
    return { 'granted', raised, record.ttl }
  end

  -- For the period a, the channel of the caller is told when the name may be free.
  if operation == 'watch' then
    local others = ''
    for channel, ends in string.gmatch(record.watchers or '', '(%S+) (%d+)') do
      if channel ~= CHANNEL and now < tonumber(ends) then others = others .. channel .. ' ' .. ends .. ' ' end
    end
    redis.call('HSET', record.key, 'watchers', others .. CHANNEL .. ' ' .. whole(now + tonumber(a)))
    if not record.state then
      keep(record, 0)
      return { 'none' }
    end
    return described({ 'record' }, record)
  end

  error('unknown operation ' .. operation, 0)
end

local function perform(key, operation, ...)
  local record = find(key)
  if operation == 'acquire' then return acquire(record, ...) end
  if operation == 'renew' then return renew(record, ...) end
  if operation == 'release' then return release(record, ...) end
  return other(operation, record, ...)
end

local answers, at = {}, 4
for i, key in ipairs(KEYS) do
  local last = at + ARGV[at]
  -- One that fails is told alone: the others of the call have taken effect.
  local is_done, answer = pcall(perform, key, unpack(ARGV, at + 1, last))
  if not is_done then answer = { 'failed', type(answer) == 'table' and answer.err or tostring(answer) } end
  answers[i] = answer
  at = last + 1
end
return answers
`
