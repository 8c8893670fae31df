import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort, ServerProcess } from '@leasehold/testing'

/** A server that a rival needs. */
export interface LockingServer {
  readonly url: string
  end(): Promise<void>
}

/** The path of a program; `undefined` where it is not installed. */
export function programOf(name: string, variable = name.toUpperCase()): string | undefined {
  const cache = process.env.SERVER_CACHE ?? join(homedir(), '.cache', 'test-servers')
  const places = [process.env[variable], ...['etcd', 'consul'].map((folder) => join(cache, folder, name))]
  const found = places.find((path) => path !== undefined && path !== '' && existsSync(path))
  if (found !== undefined) return found
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

export async function startEtcd(program: string, folder: string): Promise<LockingServer> {
  const [client, peer] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${client}`
  const peers = `http://127.0.0.1:${peer}`
  const server = await ServerProcess.spawn(
    program,
    [
      ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
    ],
    join(folder, 'etcd.log'),
  )
  await eventually('etcd answers', async () => (await fetch(`${url}/health`)).ok)
  return { url, end: () => server.end() }
}

export async function startConsul(program: string, folder: string): Promise<LockingServer> {
  const [http, rpc, lan, wan] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const server = await ServerProcess.spawn(
    program,
    [
      ...['agent', '-dev', '-bind=127.0.0.1', `-http-port=${http}`, `-server-port=${rpc}`],
      ...[`-serf-lan-port=${lan}`, `-serf-wan-port=${wan}`, '-dns-port=-1', '-grpc-port=-1'],
    ],
    join(folder, 'consul.log'),
  )
  const url = `http://127.0.0.1:${http}`
  await eventually(
    'consul has a leader',
    async () => (await (await fetch(`${url}/v1/status/leader`)).text()).length > 4,
  )
  return { url, end: () => server.end() }
}
