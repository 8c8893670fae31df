import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@leasehold/example-failover'
import { connect } from '@nats-io/transport-node'

/** Starts a `nats-server` with JetStream: the program of `NATS_SERVER`, or the one on the path. Its data is in a temporary folder. */
export async function startNats(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { NATS_SERVER = 'nats-server' } = process.env
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-nats-'))
  const args = ['-a', '127.0.0.1', '-p', String(port), '--jetstream', '--store_dir', folder]
  const server = spawn(NATS_SERVER, args, { stdio: 'ignore' })
  let failed = false
  server.once('error', () => (failed = true))
  server.once('exit', () => (failed = true))
  const url = `nats://127.0.0.1:${port}`
  for (;;) {
    if (failed) throw new Error(`${NATS_SERVER} does not start: install NATS, or set NATS_URL`)
    const connection = await connect({ servers: url }).catch(() => undefined)
    await connection?.close()
    if (connection !== undefined) break
    await sleep(100)
  }
  return {
    url,
    stop: async () => {
      const exited = once(server, 'exit')
      server.kill()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
