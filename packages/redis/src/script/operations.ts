/** The third part: what can be asked for, each with its number of arguments. Every write is conditional on the grant. */
export const operationsLua = `
local operations = {}

local function grant(record, id, owner, ttl, metadata, token)
  local length = duration(ttl)
  local ends = length == math.huge and 'inf' or exact(now + length)
  redis.call('HSET', record.key, 'state', 'leased', 'grant', id, 'owner', owner, 'token', whole(token),
    'ttl', ttl, 'until', ends, 'metadata', metadata, 'reason', '')
  keep(record.key, length)
  return { 'granted', whole(token), ttl }
end

operations.acquire = { 5, function(record, id, owner, ttl, metadata, queue)
  if record.locked and record.state == 'leased' and record.grant == id then
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
  local is_first = queue == '1' and wait(record, id, duration(ttl))
  return with_holder({ 'refused', is_first and '1' or '0' }, record)
end }

operations.renew = { 1, function(record, id)
  if not record.state then return { 'ended', 'deleted' } end
  if record.grant ~= id then return with_holder({ 'ended', 'taken' }, record) end
  if record.state == 'breaking' then return with_holder({ 'ended', 'broken' }, record) end
  if record.state ~= 'leased' then return { 'ended', 'expired' } end
  local ttl = duration(record.ttl)
  if ttl < math.huge then redis.call('HSET', record.key, 'until', exact(now + ttl)) end
  keep(record.key, ttl)
  return { 'renewed' }
end }

operations.release = { 1, function(record, id)
  if not record.state or record.grant ~= id or record.state == 'available' then
    return with_holder({ 'unreleased' }, record)
  end
  redis.call('HSET', record.key, 'state', 'available')
  if record.ends == math.huge then keep(record.key, 0) end
  wake(record)
  return { 'released' }
end }

operations.change = { 3, function(record, id, to, owner)
  local is_held = record.state == 'leased' and record.locked
  if not is_held or (record.grant ~= id and record.grant ~= to) then return with_holder({ 'refused', '0' }, record) end
  local metadata = redis.call('HGET', record.key, 'metadata')
  return grant(record, to, owner, record.ttl, metadata, record.grant == to and record.token or next_token(record))
end }

-- Says how long the name stays locked. What has expired is not locked any longer by being broken.
operations['break'] = { 2, function(record, period, reason)
  if not record.state or record.state == 'available' then return { 'free' } end
  local remaining = math.max(math.min(record.ends - now, duration(period)), 0)
  if remaining == math.huge then remaining = 0 end
  redis.call('HSET', record.key, 'state', 'breaking', 'until', exact(now + remaining))
  if reason ~= '' then redis.call('HSET', record.key, 'reason', reason) end
  keep(record.key, remaining)
  wake(record)
  return { 'broken', whole(math.ceil(remaining)) }
end }

operations.read = { 0, function(record)
  if not record.state then return { 'none' } end
  return described({ 'record' }, record)
end }

operations.withdraw = { 1, function(record, id)
  local number = record.line and redis.call('HGET', record.key, 'w:' .. id)
  if not number then return { 'done' } end
  local head = parse_line(record)
  leave(record, tonumber(number), id)
  if tonumber(number) == head and not record.locked then wake(record) end
  return { 'done' }
end }

-- The token that a quorum has agreed on.
operations.raise = { 2, function(record, id, token)
  if not (record.state == 'leased' and record.locked and record.grant == id) then
    return with_holder({ 'refused', '0' }, record)
  end
  local raised = math.max(record.token, tonumber(token))
  redis.call('HSET', record.key, 'token', whole(raised))
  return { 'granted', whole(raised), record.ttl }
end }

-- For so many milliseconds, the channel of the caller is told when the name may be free.
operations.watch = { 1, function(record, period)
  local others = ''
  for channel, ends in string.gmatch(record.watchers or '', '(%S+) (%d+)') do
    if channel ~= CHANNEL and now < tonumber(ends) then others = others .. channel .. ' ' .. ends .. ' ' end
  end
  redis.call('HSET', record.key, 'watchers', others .. CHANNEL .. ' ' .. whole(math.ceil(now) + tonumber(period)))
  if not record.state then
    keep(record.key, 0)
    return { 'none' }
  end
  return described({ 'record' }, record)
end }

local answers, at = {}, 4
for i, key in ipairs(KEYS) do
  local operation = operations[ARGV[at]]
  local count = operation[1]
  -- One that fails is told alone: the others of the call have taken effect.
  local is_done, answer = pcall(function(...) return operation[2](find(key), ...) end, unpack(ARGV, at + 1, at + count))
  if not is_done then answer = { 'failed', type(answer) == 'table' and answer.err or tostring(answer) } end
  answers[i] = answer
  at = at + count + 1
end
return answers
`
