import { createHash } from 'node:crypto'
import { fastPathLua } from './fast-path.js'
import { lineLua } from './line.js'
import { operationsLua } from './operations.js'
import { recordLua } from './record.js'

/** Makes, when something asks for it, what does all that the fast path does not. */
const slowPathLua = `
(function()
local CHANNEL, cluster = string.match(ARGV[2], '^(%S+) (%S+)$')
local CLUSTERED = cluster == 'clustered'
${recordLua}
${lineLua}
${operationsLua}
return perform
end)()
`

/**
 * All that is done to leases, in one script: a call names a key for each operation, then the life of records after their
 * end in microseconds, the channel of the caller with whether it is `single` or `clustered`, then for each operation a text:
 * its name and what it is told, with spaces in between. It answers, for each, with a text or an array of texts. No time of a
 * client goes into it.
 *
 * A call to a member of a quorum names one key more: that of the floor of its fencing tokens. Each token that the member
 * gives is larger than the floor, which is raised with it. A member without a floor has lost its data, and gives no token
 * until it has learned the floor from the other members.
 */
export const leaseScript = `
local FOREVER, AVAILABLE, LEASED, NINE = '9999999999999999', 97, 108, 57
-- Grant id, ttl, whether it queues, metadata (JSON has no line breaks) and owner.
local CLAIM = '^(%S+) (%S+) (%S+) ([^\\n]*)\\n(.*)$'
local life = tonumber(ARGV[1])
local now, micros, slow_path, unproven
local floor_key = KEYS[#ARGV - 1]
local floor = floor_key and tonumber(redis.call('HGET', floor_key, 'floor') or nil)
local answers = { false }
for i = 1, #ARGV - 2 do
  local key, operation, told = KEYS[i], string.match(ARGV[i + 2], '^(%a+) ?(.*)$')
  local lease, answer = redis.pcall('HGET', key, 'lease'), nil
  if type(lease) == 'table' then answer = lease end
${fastPathLua}
  if not answer then
    slow_path = slow_path or ${slowPathLua}
    local is_done, said, has_written = pcall(slow_path, key, lease, operation, told)
    if not has_written then unproven = key end
    answer = is_done and said or { err = type(said) == 'table' and said.err or tostring(said) }
  end
  -- One that fails is told alone: the others of the call take effect.
  if type(answer) == 'table' and answer.err then answer = { 'failed', answer.err } end
  answers[i] = answer
end
-- A replica says of what it has not heard yet that it is not so: only who can write may say anything.
if unproven then
  local said = redis.pcall('HDEL', unproven, '')
  if type(said) == 'table' and said.err and string.find(said.err, 'READONLY', 1, true) then return said end
end
return answers
`

/** What the server knows the script by once it has run it. */
export const leaseScriptSha = createHash('sha1').update(leaseScript).digest('hex')
