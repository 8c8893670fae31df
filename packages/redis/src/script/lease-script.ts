import { createHash } from 'node:crypto'
import { beginningLua, fastPathLua } from './fast-path.js'
import { lineLua } from './line.js'
import { operationsLua } from './operations.js'
import { recordLua } from './record.js'

/** What is made only when something asks for it. */
const slowPathLua = `
local function open_slow_path()
local CHANNEL, CLUSTERED = ARGV[2], ARGV[3] == '1'
${recordLua}
${lineLua}
${operationsLua}
return perform
end

local slow_path, unproven
local function slow(key, ...)
  if not now then look_at_clock() end
  slow_path = slow_path or open_slow_path()
  local is_done, answer, has_written = pcall(slow_path, key, ...)
  if not has_written then unproven = key end
  if is_done then return answer end
  return { err = type(answer) == 'table' and answer.err or tostring(answer) }
end
`

/**
 * All that is done to leases, in one script: a call names a key for each operation, then the life of records after their
 * end in microseconds, the channel of the caller and whether there is a cluster, then for each operation how many words it
 * has, its name and its arguments. It answers, for each, with a text or an array of texts. No time of a client goes into it.
 */
export const leaseScript = beginningLua + slowPathLua + fastPathLua

/** What the server knows the script by once it has run it. */
export const leaseScriptSha = createHash('sha1').update(leaseScript).digest('hex')
