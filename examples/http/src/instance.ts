/** A process with one instance: `instance.ts KIND FOLDER NAME`, where the kind is `http`, `express` or `hono`. */

import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalLeaseStore } from '@leasehold/local'
import { createParts } from './parts.js'
import { shutDownOnSignals } from './shut-down.js'
import { serveWithExpress } from './with-express.js'
import { serveWithHono } from './with-hono.js'
import { serveWithHttp } from './with-http.js'

const [kind = '', folder = '', name = ''] = process.argv.slice(2)

const serveWith = { http: serveWithHttp, express: serveWithExpress, hono: serveWithHono }[kind]
if (serveWith === undefined) throw new Error(`unknown kind: ${kind}`)

const parts = createParts(new LocalLeaseStore({ folder: join(folder, 'leases') }), name, async (due) => {
  appendFileSync(join(folder, 'sweeps.txt'), `${due.toISOString()}\n`)
})

const server = serveWith(
  parts,
  async ({ checkLease }) => {
    // The demo decides for how long a request is in progress.
    process.send?.({ entered: true })
    await once(process, 'message')
    return { by: name, isHeld: checkLease() }
  },
  0,
)
shutDownOnSignals(server, parts)
await once(server, 'listening')
const address = server.address()
// The demo has ended.
process.on('disconnect', () => process.exit())
process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
