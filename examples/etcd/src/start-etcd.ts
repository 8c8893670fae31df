import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@leasehold/example-failover'

/** The program of `ETCD`, one in the cache of test servers, or the one on the path. */
export function etcdProgram(): string {
  const cache = process.env.SERVER_CACHE ?? join(homedir(), '.cache', 'test-servers')
  const cached = join(cache, 'etcd', 'etcd')
  return process.env.ETCD ?? (existsSync(cached) ? cached : 'etcd')
}

/** Starts an `etcd` of one member, with its data in a temporary folder. */
export async function startEtcd(): Promise<{ readonly endpoint: string; stop(): Promise<void> }> {
  const [endpoint, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-etcd-'))
  const clients = ['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint]
  const peers = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `demo=${peer}`]
  const args = ['--name', 'demo', '--data-dir', folder, ...clients, ...peers]
  const server = spawn(etcdProgram(), args, { stdio: 'ignore' })
  const failed = new Promise<never>((_, reject) => {
    server.once('error', () => reject(new Error('etcd does not start: install it, or set ETCD_ENDPOINT')))
  })
  await Promise.race([failed, answers(endpoint)])
  return {
    endpoint,
    stop: async () => {
      const exited = once(server, 'exit')
      server.kill()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(endpoint: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${endpoint}/health`).catch(() => undefined)
    if (response?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
