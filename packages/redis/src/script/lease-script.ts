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
 * end in microseconds, the channel of the caller with whether it is `single` or `clustered`, then for each operation how many
 * words it has, its name and its arguments. It answers, for each, with a text or an array of texts. No time of a client goes
 * into it.
 */
export const leaseScript = `
local FOREVER, AVAILABLE, LEASED, NINE = '9999999999999999', 97, 108, 57
local life = tonumber(ARGV[1])
local now, micros, slow_path, unproven
local answers, at = { false }, 3
for i = 1, #KEYS do
  local key, operation, id, last = KEYS[i], ARGV[at + 1], ARGV[at + 2], at + ARGV[at]
  local lease, answer = redis.pcall('HGET', key, 'lease'), nil
  if type(lease) == 'table' then answer = lease end
${fastPathLua}
  if not answer then
    slow_path = slow_path or ${slowPathLua}
    local is_done, said, has_written = pcall(slow_path, key, lease, unpack(ARGV, at + 1, last))
    if not has_written then unproven = key end
    answer = is_done and said or { err = type(said) == 'table' and said.err or tostring(said) }
  end
  -- One that fails is told alone: the others of the call take effect.
  if type(answer) == 'table' and answer.err then answer = { 'failed', answer.err } end
  answers[i], at = answer, last + 1
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
