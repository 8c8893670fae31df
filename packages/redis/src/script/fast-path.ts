/**
 * What is done for a lease that nobody waits for: the server makes each function, table and text of a call anew, and every
 * command of a script costs it a microsecond. What is not as usual is left to the other parts, which are made only then.
 *
 * The record of a name is a hash. Its field `lease` has, at fixed places: the state (1 to 9), until when (11 to 26) and the
 * fencing token (28 to 43), how long the key is kept (45 to 60), three flags (62 to 64: somebody waits in `line`, somebody
 * watches by `watchers`, there is a `reason` of a break), the grant id (from 66), and the ttl in milliseconds. Instants are
 * microseconds of the server's clock, which have 16 digits until 2286, so that they can be compared as texts; only
 * `FOREVER` begins with a 9, until 2255. `owner` and `metadata` are fields of their own.
 */
export const fastPathLua = `
  local is_usual = type(lease) == 'string' and string.find(lease, ' --- ', 61, true) == 61
  local state = is_usual and string.byte(lease)
  -- What renew and release are told is the grant id and no more.
  local is_ours = is_usual and operation ~= 'acquire' and string.find(lease, told .. ' ', 66, true) == 66
    and string.byte(lease, 11) ~= NINE
  -- By nobody's clock.
  if is_ours and operation == 'release' and state ~= AVAILABLE then
    answer = redis.pcall('HSET', key, 'lease', 'available' .. string.sub(lease, 10))
    if type(answer) == 'number' then answer = 'released' end
  end
  if not answer and not now then
    local time = redis.call('TIME')
    now = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
    micros = tonumber(now)
  end
  if is_usual and operation == 'acquire' and not floor_key and (state == AVAILABLE or string.sub(lease, 11, 26) <= now) then
    local id, ttl, _, metadata, owner = string.match(told, CLAIM)
    local kept, ends = string.sub(lease, 45, 60), micros + (tonumber(ttl) or math.huge) * 1000
    if string.sub(lease, 28, 43) < now and (tonumber(kept) or 0) >= ends + life then
      local granted = string.format('leased    %.0f %s %s --- %s %s', ends, now, kept, id, ttl)
      answer = redis.pcall('HSET', key, 'lease', granted, 'owner', owner, 'metadata', metadata == '' and '{}' or metadata)
      if type(answer) == 'number' then answer = now end
    end
  elseif is_ours and operation == 'renew' and state == LEASED then
    local ends = micros + (tonumber(string.sub(lease, 67 + #told)) or math.huge) * 1000
    if (tonumber(string.sub(lease, 45, 60)) or 0) >= ends + life then
      answer = redis.pcall('HSET', key, 'lease', string.format('leased    %.0f%s', ends, string.sub(lease, 27)))
      if type(answer) == 'number' then answer = 'renewed' end
    end
  end
`
