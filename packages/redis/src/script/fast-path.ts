/**
 * The first and the last part of the script, all that runs for a lease that nobody waits for: the server makes every
 * function anew at each call, and every command of a script costs it a microsecond. What is not as usual is left to the other parts.
 *
 * The record of a name is a hash. Its field `lease` has, at fixed places: the state (1 to 9), until when (11 to 26) and the
 * fencing token (28 to 43), how long the key is kept (45 to 60), three flags (62 to 64: somebody waits in `line`, somebody
 * watches by `watchers`, there is a `reason` of a break), the grant id (from 66), and the ttl in milliseconds. Instants are
 * microseconds of the server's clock, which have 16 digits until 2286, so that they can be compared as texts. `owner` and
 * `metadata` are fields of their own.
 */
export const beginningLua = `
local FOREVER, life = '9999999999999999', tonumber(ARGV[1])
local now, micros

local function look_at_clock()
  local time = redis.call('TIME')
  now = time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
  micros = tonumber(now)
end
`

export const fastPathLua = `
local answers, at = {}, 4
for i = 1, #KEYS do
  local key, operation, id = KEYS[i], ARGV[at + 1], ARGV[at + 2]
  local lease, answer = redis.pcall('HGET', key, 'lease'), nil
  -- A release is by nobody's clock.
  if not now and operation ~= 'release' then look_at_clock() end
  if type(lease) == 'string' and string.sub(lease, 62, 64) == '---' then
    local state, ours = string.byte(lease), string.sub(lease, 66, 66 + #(id or '')) == (id or '') .. ' '
    if operation == 'renew' and state == 108 and ours then
      local ttl = tonumber(string.sub(lease, 67 + #id))
      local ends = ttl and micros + ttl * 1000
      if ends and tonumber(string.sub(lease, 45, 60)) >= ends + life then
        answer = redis.pcall('HSET', key, 'lease', 'leased    ' .. string.format('%.0f', ends) .. string.sub(lease, 27))
        if type(answer) == 'number' then answer = 'renewed' end
      end
    elseif operation == 'release' and state ~= 97 and ours and string.sub(lease, 11, 26) ~= FOREVER then
      answer = redis.pcall('HSET', key, 'lease', 'available' .. string.sub(lease, 10))
      if type(answer) == 'number' then answer = 'released' end
    elseif operation == 'acquire' and (state == 97 or string.sub(lease, 11, 26) <= now) then
      local ttl = tonumber(ARGV[at + 4])
      local ends = ttl and micros + ttl * 1000
      local kept = string.sub(lease, 45, 60)
      if ends and string.sub(lease, 28, 43) < now and tonumber(kept) >= ends + life then
        local metadata = ARGV[at + 5]
        local granted = string.format('leased    %.0f %s %s --- %s %s', ends, now, kept, id, ARGV[at + 4])
        answer = redis.pcall('HSET', key, 'lease', granted, 'owner', ARGV[at + 3], 'metadata', metadata == '' and '{}' or metadata)
        if type(answer) == 'number' then answer = now end
      end
    end
  end
  local last = at + ARGV[at]
  if type(lease) == 'table' then answer = lease end
  -- One that fails is told alone: the others of the call take effect.
  answer = answer or slow(key, lease, unpack(ARGV, at + 1, last))
  if type(answer) == 'table' and answer.err then answer = { 'failed', answer.err } end
  answers[i] = answer
  at = last + 1
end
-- A replica says of what it has not heard yet that it is not so: only who can write may say anything.
if unproven then
  local said = redis.pcall('HDEL', unproven, '')
  if type(said) == 'table' and said.err and string.find(said.err, 'READONLY', 1, true) then return said end
end
return answers
`
