/** A process with one instance: `instance.ts KIND FOLDER NAME`, where the kind is `http`, `express` or `hono`. */

import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Held } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { createParts } from './parts.js'
import { shutDownOnSignals } from './shut-down.js'
import { serveWithExpress } from './with-express.js'
import { serveWithHono } from './with-hono.js'
import { serveWithHttp } from './with-http.js'

const [kind = '', folder = '', name = ''] = process.argv.slice(2)

const serve = { http: serveWithHttp, express: serveWithExpress, hono: serveWithHono }[kind]
if (serve === undefined) throw new Error(`unknown kind: ${kind}`)

async function sweep(due: Date): Promise<void> {
  appendFileSync(join(folder, 'sweeps.txt'), `${due.toISOString()}\n`)
}

/** The demo decides for how long a request is in progress. */
async function work({ checkLease }: Held): Promise<object> {
  process.send?.({ entered: true })
  await once(process, 'message')
  return { by: name, isHeld: checkLease() }
}

const port = 0
// #region start
const parts = createParts(new LocalLeaseStore({ folder: join(folder, 'leases') }), name, sweep)
const server = serve(parts, work, port)
shutDownOnSignals(server, parts)
// #endregion start

await once(server, 'listening')
const address = server.address()
// The demo has ended.
process.on('disconnect', () => process.exit())
process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
