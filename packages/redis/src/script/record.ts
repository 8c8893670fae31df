/** Reads and writes the record of a name, for the operations beside the fast path, and describes it in an answer. */
export const recordLua = `
local function whole(number) return string.format('%.0f', number) end
local function duration(text) return text == 'never' and math.huge or tonumber(text) end
local function instant(number) return number == math.huge and FOREVER or string.format('%016.0f', number) end
local function moment(text) return text == FOREVER and math.huge or tonumber(text) end

local function find(key, lease)
  if not lease then
    if redis.call('HLEN', key) > 0 then error('NOLEASE it has no field lease', 0) end
    return { key = key, state = 'available', ends = 0, token = 0, kept = 0, grant = '-', ttl = '0', exists = false }
  end
  local state, ends, token, kept, line, watched, reason, grant, ttl =
    string.match(lease, '^(%a+) *(%d+) (%d+) (%d+) ([l-])([w-])([r-]) (%S+) (%S+)$')
  if not state then error('NOLEASE its field lease is not in the format of a lease', 0) end
  local record = { key = key, state = state, grant = grant, ttl = ttl }
  record.ends, record.token, record.kept = moment(ends), tonumber(token), moment(kept)
  record.has_line, record.is_watched, record.has_reason = line == 'l', watched == 'w', reason == 'r'
  record.exists = record.token > 0
  record.locked = state ~= 'available' and ends > now
  return record
end

local function store(record)
  redis.call('HSET', record.key, 'lease', string.format('%-9s %s %s %s %s%s%s %s %s', record.state, instant(record.ends),
    instant(record.token), instant(record.kept), record.has_line and 'l' or '-', record.is_watched and 'w' or '-',
    record.has_reason and 'r' or '-', record.grant, record.ttl))
  if record.is_kept_longer then
    if record.kept == math.huge then redis.call('PERSIST', record.key)
    else redis.call('PEXPIREAT', record.key, whole(math.ceil(record.kept / 1000) + 1)) end
  end
end

-- Marks the record as changed. Its key outlives the lease by its life at least, and a token that was raised above the clock
-- until the clock has passed it: a name without a record has the clock as its next token. In a quorum, the floor is above it.
-- The expiry of the key is written only if it is too early, because that costs the server as much as the rest of a renewal.
local function keep(record)
  record.is_changed = true
  local least = math.max(record.ends, micros, floor_key and 0 or record.token) + life
  -- The text of a later instant would be too long.
  if least + life / 2 > LARGEST then least = math.huge end
  if record.kept == math.huge and least < math.huge or record.kept < least then
    record.kept, record.is_kept_longer = math.floor(least + life / 2), true
  end
end

-- The next token of the name. If the server has forgotten tokens, by a flush or by a failover to a replica that lagged
-- behind, its clock is above all of them: grants of a name are at least a microsecond apart.
local function next_token(record) return math.max(record.token + 1, micros, floor and floor + 1 or 0) end

-- Must be called before any write: a member of a quorum without a floor gives no token.
local function raise_floor(token)
  if not floor_key or floor and token <= floor then return end
  if not floor then error('NOFLOOR the server has lost its data', 0) end
  floor = token
  redis.call('HSET', floor_key, 'floor', whole(token))
end

-- The time of the grant, given the field granted.
local function time_of(record, field)
  local token, granted = string.match(field or '', '^(%d+) (%d+)$')
  return token == whole(record.token) and granted or whole(record.token)
end

local function described(answer, record)
  local f = redis.call('HMGET', record.key, 'owner', 'metadata', 'reason', 'previous', 'granted')
  local state, remaining = record.state, ''
  if record.locked then
    remaining = record.ends == math.huge and 'never' or whole(math.ceil((record.ends - micros) / 1000))
  elseif state == 'leased' then state = 'expired'
  elseif state == 'breaking' then state = 'broken' end
  local reason = record.has_reason and f[3] or ''
  local previous = record.locked and f[4] or ''
  -- A quorum has no clock of its own: those of its members differ.
  local granted = floor_key and '' or time_of(record, f[5])
  local fields = { state, record.grant, f[1], whole(record.token), record.ttl, remaining, f[2], reason, previous, granted }
  for i = 1, 10 do answer[#answer + 1] = fields[i] or '' end
  return answer
end

-- Adds the record of the holder, but not of a former holder.
local function with_holder(answer, record)
  if record.locked then return described(answer, record) end
  return answer
end
`
