/** Two processes of a shop, and a page that shows who of them holds what. Runs until SIGINT or SIGTERM. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { LocalLeaseStore } from '@leasehold/local'
import { LeaseUi } from '@leasehold/ui'
import { Hono } from 'hono'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-ui-'))
const token = randomBytes(24).toString('base64url')
const wanted = Number(process.env.PORT ?? 8080)

const workers: readonly ChildProcess[] = ['anna', 'berta'].map((name, place) => {
  const program = fileURLToPath(new URL('./worker.ts', import.meta.url))
  const child = fork(program, [folder, name, String(2 - place)])
  console.log(`${name} works in the process ${child.pid}`)
  return child
})

// #region page
const store = new LocalLeaseStore({ folder })
const ui = new LeaseUi(store, { path: '/leases', token, writable: true, title: 'The shop' })

const app = new Hono()
app.get('/', (context) => context.text('the shop'))
app.all('/leases/*', (context) => ui.fetch(context.req.raw))

const server = serve({ fetch: app.fetch, port: wanted, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}/leases/#token=${token}`)
})
// #endregion page

async function end(): Promise<void> {
  const exits = workers.map(async (child) => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit')
  })
  // #region close
  await ui.close()
  server.close()
  // #endregion close
  await Promise.all(exits)
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}

process.once('SIGINT', end).once('SIGTERM', end)
