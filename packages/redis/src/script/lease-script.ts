import { createHash } from 'node:crypto'
import { lineLua } from './line.js'
import { operationsLua } from './operations.js'
import { recordLua } from './record.js'

/**
 * All that is done to leases, in one script: a call names a key for each operation, then the life of records after their
 * end, the channel of the caller and whether there is a cluster, then for each operation how many words it has,
 * its name and its arguments. It answers with an array of texts for each. No time of a client goes into it.
 */
export const leaseScript = [recordLua, lineLua, operationsLua].join('')

/** What the server knows the script by once it has run it. */
export const leaseScriptSha = createHash('sha1').update(leaseScript).digest('hex')
