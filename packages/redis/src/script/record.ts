/**
 * The first part of the script: the record of a name, a hash. `until` is in milliseconds of the server's clock, to the microsecond, `inf`
 * where the lease does not expire; `line` is there while somebody waits, `watchers` while somebody watches.
 */
export const recordLua = `
local LIFE, CHANNEL, CLUSTERED = tonumber(ARGV[1]), ARGV[2], ARGV[3] == '1'
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = micros / 1000

local function whole(number) return string.format('%.0f', number) end
local function exact(instant) return string.format('%.3f', instant) end
local function duration(text) return text == 'inf' and math.huge or tonumber(text) end

local function find(key)
  local f = redis.call('HMGET', key, 'state', 'grant', 'token', 'until', 'ttl', 'line', 'watchers', 'kept')
  local record = { key = key, state = f[1], grant = f[2], ttl = f[5], line = f[6], watchers = f[7], kept = f[8], locked = false }
  if record.state then
    record.token, record.ends = tonumber(f[3]), duration(f[4])
    if not (record.token and record.ends and record.ttl and record.grant) then error('NOLEASE a field is missing', 0) end
    record.locked = record.state ~= 'available' and now < record.ends
  end
  return record
end

-- The key outlives the lease by LIFE at least. It is written to only where that is not so yet: an expiry costs the server
-- as much as all the rest of a renewal.
local function keep(record, ttl)
  if ttl == math.huge then
    if record.kept == 'inf' then return end
    redis.call('PERSIST', record.key)
    redis.call('HSET', record.key, 'kept', 'inf')
    return
  end
  local least = now + ttl + LIFE
  if record.kept and record.kept ~= 'inf' and tonumber(record.kept) >= least then return end
  redis.call('PEXPIRE', record.key, whole(ttl + LIFE * 1.5))
  redis.call('HSET', record.key, 'kept', whole(now + ttl + LIFE * 1.5 - 1))
end

-- Where nothing was lost, the next of the name. Where a flush, or a failover to a replica that lagged behind, has made
-- the server forget tokens, its clock is above all of them: nobody grants more often than once a microsecond.
local function next_token(record) return math.max((record.token or 0) + 1, micros) end

local function described(answer, record)
  local f = redis.call('HMGET', record.key, 'owner', 'metadata', 'reason')
  local state, remaining = record.state, ''
  if record.locked then remaining = record.ends == math.huge and 'inf' or whole(math.ceil(record.ends - now))
  elseif state == 'leased' then state = 'expired'
  elseif state == 'breaking' then state = 'broken' end
  local fields = { state, record.grant, f[1], whole(record.token), record.ttl, remaining, f[2], f[3] }
  for i = 1, 8 do answer[#answer + 1] = fields[i] or '' end
  return answer
end

-- Who holds the name is told; who held it is not.
local function with_holder(answer, record)
  if record.locked then return described(answer, record) end
  return answer
end
`
