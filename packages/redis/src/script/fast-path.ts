/** Reads the clock of the server, once for all operations of a call. */
export const timeLua = `  if not answer and not now then
    local time = redis.call('TIME')
    now = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
    micros = tonumber(now)
  end
`

/**
 * The common cases: claiming, renewing and releasing a lease that has no waiters. Each call of the script creates all of its
 * functions, tables and strings, and each command in it costs about a microsecond. So the other parts of the script are
 * created only when this part gives no answer. A renewal creates no string that it can do without; the new end is the same
 * for all leases of a call that have the same ttl.
 *
 * The record of a name is a hash. Its field `lease` has fixed places: the state (1 to 9), the end (11 to 26), the fencing
 * token (28 to 43), how long the key is kept (45 to 60), three flags (62 to 64: the field `line` has waiters, the field
 * `watchers` has channels, the field `reason` has the reason of a break), the grant id (from 66), and the ttl in
 * milliseconds. Instants are microseconds of the server's clock. They have 16 digits until 2286, so that they can be
 * compared as strings; only `FOREVER` begins with a 9, until 2255. `owner` and `metadata` are fields of their own;
 * `granted` is the token of a grant and its time, if they differ; on a single server the token of any other grant is its time.
 * `previous` is the fencing token of the last holder with the metadata and the reason of a break that it left. On a single
 * server nothing reads that token, so that it may be 0.
 */
export const fastPathLua = `
  local is_usual = type(lease) == 'string' and str_find(lease, ' --- ', 61, true) == 61
  local state = is_usual and str_byte(lease)
  -- The only argument of renew, beside its token, is the grant id, and so is that of release without metadata.
  local is_ours = is_usual and operation ~= 'acquire' and str_find(lease, args, 66, true) == 66
    and str_byte(lease, 66 + #args) == SPACE and str_byte(lease, 11) ~= NINE
  -- This does not depend on the time.
  if is_ours and operation == 'release' and state ~= AVAILABLE then
    answer = redis.pcall('HSET', key, 'lease', 'available' .. str_sub(lease, 10))
    if type(answer) == 'number' then answer = 'released' end
  end
${timeLua}  if is_usual and operation == 'acquire' and not floor_key and (state == AVAILABLE or str_sub(lease, 11, 26) <= now) then
    local id, ttl, _, metadata, owner = string.match(args, CLAIM)
    local kept, ends = str_sub(lease, 45, 60), micros + (tonumber(ttl) or math.huge) * 1000
    if str_sub(lease, 28, 43) < now and (tonumber(kept) or 0) >= ends + life then
      local granted = string.format('leased    %.0f %s %s --- %s %s', ends, now, kept, id, ttl)
      local left = redis.call('HGET', key, 'metadata')
      local previous = left and '0 ' .. left or ''
      answer = redis.pcall('HSET', key, 'lease', granted, 'owner', owner, 'metadata',
        metadata == '' and (left or '{}') or metadata, 'previous', previous)
      if type(answer) == 'number' then answer = left == '{}' and now or { 'granted', now, previous } end
    end
  elseif is_ours and operation == 'renew' and state == LEASED and str_find(lease, token, 28, true) == 28 then
    local ttl = str_sub(lease, 67 + #args)
    if ttl ~= last_ttl then
      local ends = micros + (tonumber(ttl) or math.huge) * 1000
      last_ttl, renewed, least = ttl, string.format('leased    %.0f', ends), ends + life
    end
    if (tonumber(str_sub(lease, 45, 60)) or 0) >= least then
      answer = redis.pcall('HSET', key, 'lease', renewed .. str_sub(lease, 27))
      if type(answer) == 'number' then answer = 'renewed' end
    end
  end
`
