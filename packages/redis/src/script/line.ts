/**
 * The waiters, first come, first served, in fields of the same hash: `line`, and for each waiter `q:<number>` with its
 * place and `w:<grant id>` with its number.
 */
export const lineLua = `
-- The first and the last number given out, the number at which dead waiters are dropped next, and the number before which
-- there is only the first waiter.
local function parse_line(record)
  if not record.has_line then return 1, 0, 64, 0 end
  record.line = record.line or redis.call('HGET', record.key, 'line')
  local head, tail, due, skip = string.match(record.line, '^(%d+) (%d+) (%d+) (%d+)$')
  return tonumber(head), tonumber(tail), tonumber(due), tonumber(skip)
end

-- A waiter whose client cannot subscribe has no channel, but the milliseconds for which its place lasts after each claim.
local function polls(channel) return tonumber(string.match(channel, '^%-(%d+)$') or nil) end

local function parse_place(place)
  local id, alive, channel = string.match(place, '^(%S+) (%d+) (%S+)$')
  return { id = id, channel = channel, alive = micros < tonumber(alive) }
end

local function write_line(record, head, tail, due, skip)
  record.line = whole(head) .. ' ' .. whole(tail) .. ' ' .. whole(due) .. ' ' .. whole(skip)
  redis.call('HSET', record.key, 'line', record.line)
  if not record.has_line then record.has_line, record.is_changed = true, true end
end

local function leave(record, number, id)
  redis.call('HDEL', record.key, 'q:' .. whole(number), 'w:' .. id)
end

-- The first living waiter; drops the dead ones before it. Reads larger pages if many have left from the middle.
local function first_of(record)
  if not record.has_line then return nil end
  local head, tail, due, skip = parse_line(record)
  local from, length = head, 1
  while head <= tail do
    local fields = {}
    for number = head, math.min(tail, head + length - 1) do fields[#fields + 1] = 'q:' .. whole(number) end
    for _, text in ipairs(redis.call('HMGET', record.key, unpack(fields))) do
      local place = text and parse_place(text)
      if place and place.alive then
        if head > from then write_line(record, head, tail, due, skip) end
        place.number = head
        return place
      end
      if place then leave(record, head, place.id) end
      head = head + 1
    end
    head = math.max(head, math.min(skip, tail + 1))
    length = math.min(length * 4, 64)
  end
  redis.call('HDEL', record.key, 'line')
  record.line, record.has_line, record.is_changed = nil, false, true
  return nil
end

-- Drops all dead waiters; otherwise they would pile up behind a waiter that waits for long. It happens again when as many
-- waiters have come as there were, so that each claim pays for a few places only.
local function sweep(record, head, tail)
  local count, skip = 0, tail + 1
  local all = redis.call('HGETALL', record.key)
  for i = 1, #all, 2 do
    local number = tonumber(string.match(all[i], '^q:(%d+)$') or nil)
    local place = number and parse_place(all[i + 1])
    if place and place.alive then
      count = count + 1
      if number > head then skip = math.min(skip, number) end
    elseif place then
      leave(record, number, place.id)
    end
  end
  return tail + count + 64, skip
end

-- How many wait. The dead ones are left out of lines up to about five hundred: to look at more places would hold up the
-- server. In a quorum, each member has a line of its own.
local function waiting(record)
  if floor_key then return '' end
  if not record.has_line then return '0' end
  local fields = redis.call('HLEN', record.key)
  -- Two fields for each place, and at most eight others.
  if fields > 1024 then return whole(math.floor(fields / 2) - 4) end
  local count, all = 0, redis.call('HGETALL', record.key)
  for i = 1, #all, 2 do
    if string.find(all[i], '^q:') and parse_place(all[i + 1]).alive then count = count + 1 end
  end
  return whole(count)
end

-- Ends the place of a waiter that the lease was passed on to, and notifies it.
local function pass_turn(record, id)
  local number = record.has_line and redis.call('HGET', record.key, 'w:' .. id)
  if not number then return end
  local place = redis.call('HGET', record.key, 'q:' .. number)
  leave(record, tonumber(number), id)
  local channel = place and parse_place(place).channel
  if channel and not polls(channel) then redis.call('PUBLISH', channel, 'turn ' .. id) end
end

local has_echoed = false

-- Takes a place, or keeps the existing one. Returns whether it is the first, and whether an echo was sent.
local function wait(record, id, ttl)
  local alive = whole(micros + math.min(ttl == math.huge and 60000 or ttl, polls(CHANNEL) or ttl) * 1000)
  local head, tail, due, skip = parse_line(record)
  local number = tonumber(redis.call('HGET', record.key, 'w:' .. id) or nil)
  local is_new = not number
  if is_new then
    tail = tail + 1
    number = tail
  end
  redis.call('HSET', record.key, 'q:' .. whole(number), id .. ' ' .. alive .. ' ' .. CHANNEL, 'w:' .. id, whole(number))
  if is_new then
    if tail >= due then due, skip = sweep(record, head, tail) end
    write_line(record, head, tail, due, skip)
  else
    -- Without the echo, a store could not notice that its subscription is dead. One is enough for all operations of a call.
    if not has_echoed and not polls(CHANNEL) then redis.call('PUBLISH', CHANNEL, 'here') end
    has_echoed = true
  end
  -- The waiters before it may have died meanwhile.
  return first_of(record).number == number and 'first' or 'later', is_new and '' or 'echo'
end

-- The name may be free: notifies the first waiter and the watchers. A waiter whose channel has no subscriber is gone; in a
-- cluster that is unknown, because the subscriber may be at another node. A waiter that polls comes by itself.
local function wake(record)
  local first = first_of(record)
  while first do
    if polls(first.channel) or redis.call('PUBLISH', first.channel, 'turn ' .. first.id) > 0 or CLUSTERED then break end
    leave(record, first.number, first.id)
    first = first_of(record)
  end
  if not record.is_watched then return end
  for channel, ends in string.gmatch(redis.call('HGET', record.key, 'watchers') or '', '(%S+) (%d+)') do
    if micros < tonumber(ends) then redis.call('PUBLISH', channel, 'free ' .. record.key) end
  end
end
`
