import { createHash } from 'node:crypto'
import { fastPathLua, timeLua } from './fast-path.js'
import { lineLua } from './line.js'
import { operationsLua } from './operations.js'
import { recordLua } from './record.js'

/** A script, and the hash by which the server knows it after its first run. */
export interface LeaseScript {
  readonly text: string
  readonly sha: string
}

/** Creates the function for all operations that the fast path does not answer. */
function slowPathLua(moreOperations: string): string {
  return `
(function()
local CHANNEL, CLUSTERED = string.match(ARGV[2], '^%S+'), cluster == 'clustered'
${recordLua}
${lineLua}
${operationsLua}
${moreOperations}
return function(key, lease, operation, args, token)
  local record = find(key, lease)
  local answer = operations[operation](record, args, token)
  if record.is_changed then store(record) end
  return answer, record.is_changed
end
end)()
`
}

/**
 * The script for all operations on leases. KEYS has the key of each operation. ARGV has the life of records after their end in
 * microseconds, then the channel of the caller and `single` or `clustered`, then for each operation its name and its arguments,
 * separated by spaces; if all operations have the same name, it is instead the third word of the second argument. The argument
 * of a renewal is two words, the grant id and the token, and those of several renewals are one argument, separated by spaces. The script returns a string or
 * an array of strings for each operation, and a single string for renewals that have all succeeded. It uses no time of a client.
 *
 * `floorLua` declares `floor_key` and `floor`: nil where fencing tokens have no floor. With `hasOldKeys`, as many keys of
 * another lock follow the keys of the operations, in the same order, and no operation takes the fast path.
 */
export function scriptOf(floorLua: string, moreOperations: string, hasOldKeys = false): LeaseScript {
  const count = 'floor_key and #KEYS - 1 or #KEYS'
  const oldKeys = hasOldKeys ? `local count, old_key = (${count}) / 2, nil\n` : ''
  const text = `
local FOREVER, AVAILABLE, LEASED, NINE, SPACE = '9999999999999999', 97, 108, 57, 32
-- Numbers of Lua are exact up to here, and their texts have 16 digits.
local LARGEST = 9007199254740991
local str_find, str_sub, str_byte = string.find, string.sub, string.byte
-- Grant id, ttl, whether to queue, metadata (JSON has no line breaks) and owner.
local CLAIM = '^(%S+) (%S+) (%S+) ([^\\n]*)\\n(.*)$'
local life = tonumber(ARGV[1])
local now, micros, slow_path, unproven, last_ttl, renewed, least
local cluster, shared = string.match(ARGV[2], '^%S+ (%a+) ?(%a*)$')
${floorLua}
local next_word = shared == 'renew' and string.gmatch(ARGV[3], '%S+')
local answers, unlike = { false }, shared ~= 'renew'
${oldKeys}for i = 1, ${hasOldKeys ? 'count' : count} do
${hasOldKeys ? '  old_key = KEYS[count + i]\n' : ''}  local key, operation, args = KEYS[i], shared, next_word and next_word() or ARGV[i + 2]
  local token = next_word and next_word()
  if shared == '' then operation, args = string.match(args, '^(%a+) ?(.*)$') end
  if operation == 'renew' and not token then args, token = string.match(args, '^(%S+) (%S+)$') end
  local lease, answer = redis.pcall('HGET', key, 'lease'), nil
  if type(lease) == 'table' then answer = lease end
${hasOldKeys ? timeLua : fastPathLua}
  if not answer then
    slow_path = slow_path or ${slowPathLua(moreOperations)}
    local is_done, result, has_written = pcall(slow_path, key, lease, operation, args, token)
    if not has_written then unproven = key end
    answer = is_done and result or { err = type(result) == 'table' and result.err or tostring(result) }
  end
  -- An operation fails alone: the others of the call take effect.
  if type(answer) == 'table' and answer.err then answer = { 'failed', answer.err } end
  answers[i] = answer
  if answer ~= 'renewed' then unlike = true end
end
-- A replica that lags behind would give wrong answers: only a server that accepts writes may answer.
if unproven then
  local result = redis.pcall('HDEL', unproven, '')
  if type(result) == 'table' and result.err and string.find(result.err, 'READONLY', 1, true) then return result end
end
return unlike and answers or 'renewed'
`
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export const leaseScript = scriptOf('local floor_key, floor', '')

/** With the keys of another lock: see `compatLua`. */
export function leaseScriptWith(compat: string): LeaseScript {
  return scriptOf('local floor_key, floor', compat, true)
}
