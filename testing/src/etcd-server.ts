import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from './eventually.js'
import { freePorts } from './free-port.js'
import type { PeerAddress } from './peer-address.js'
import { ServerProcess } from './server-process.js'
import { serverProgram } from './server-program.js'
import { StoppableServer } from './stoppable-server.js'

const run = promisify(execFile)

/** `etcd`, by the variable `ETCD`; `etcdctl` is looked for next to it. */
export const etcdProgram = serverProgram('ETCD', 'etcd')

const etcdctlProgram = serverProgram('ETCDCTL', 'etcdctl')

/** The path of `etcdctl`: next to `etcd`, or by the variable `ETCDCTL`. */
export const etcdctl: string = existsSync(besideEtcd()) ? besideEtcd() : (etcdctlProgram.path ?? cachedEtcdctl())

export interface EtcdServerOptions {
  /** Added to the command line: `['--quota-backend-bytes', '16777216']`. */
  readonly args?: readonly string[]
  /** `https` for a server that speaks TLS, which its `args` have to set up; `http` unless given. */
  readonly scheme?: 'http' | 'https'
  /** Where the members keep their files, by their numbers; they are then left there. Folders of their own unless given. */
  readonly dirs?: readonly string[]
}

interface Place {
  readonly name: string
  readonly port: number
  readonly peerPort: number
  /** The port at which the other members reach it. */
  readonly advertisedPort: number
  readonly dir: string
  readonly isOwnDir: boolean
  /** The members and their peer URLs, as etcd writes them. */
  readonly cluster: string
  readonly state: 'new' | 'existing'
  readonly options: EtcdServerOptions
}

/** A real `etcd` of this machine. It listens on 127.0.0.1, and does not outlive the process of the tests. */
export class EtcdServer extends StoppableServer {
  readonly port: number
  /** The URL of this member for clients. */
  readonly url: string
  readonly #place: Place

  private constructor(place: Place) {
    super()
    this.#place = place
    this.port = place.port
    this.url = `${place.options.scheme ?? 'http'}://127.0.0.1:${place.port}`
  }

  /** Resolves when it answers. */
  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const [server] = await EtcdServer.cluster(1, options)
    if (server === undefined) throw new Error('no server was started')
    return server
  }

  /** The members of one cluster; resolves when they have a leader. `peerAddress`: they reach each other directly unless given. */
  static async cluster(
    size: number,
    options: EtcdServerOptions = {},
    peerAddress?: PeerAddress,
  ): Promise<readonly EtcdServer[]> {
    const servers: EtcdServer[] = []
    const processes = (): readonly (number | undefined)[] => servers.map((server) => server.process?.pid)
    const places: Omit<Place, 'cluster'>[] = []
    for (let count = 0; count < size; count += 1) {
      const place = await freshPlace(`m${count}`, 'new', options, options.dirs?.[count])
      const advertisedPort = (await peerAddress?.(count, place.peerPort, processes)) ?? place.peerPort
      places.push({ ...place, advertisedPort })
    }
    const cluster = places.map(({ name, advertisedPort }) => `${name}=${peerUrl(advertisedPort)}`).join(',')
    servers.push(...places.map((place) => new EtcdServer({ ...place, cluster })))
    try {
      await Promise.all(servers.map((server) => server.launch()))
      await Promise.all(servers.map((server) => server.ready()))
      return servers
    } catch (error) {
      for (const server of servers) await server.stop()
      throw error
    }
  }

  /** Adds a member to the cluster of this one; resolves when the new one answers. */
  async addMember(name: string, options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const place = await freshPlace(name, 'existing', options)
    const added = await this.#change('add', name, `--peer-urls=${peerUrl(place.peerPort)}`)
    const [, cluster = ''] = /^ETCD_INITIAL_CLUSTER="(.*)"$/m.exec(added) ?? []
    const server = new EtcdServer({ ...place, cluster })
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** Removes another member from the cluster. That one ends by itself. */
  async removeMember(other: EtcdServer): Promise<void> {
    const line = (await this.ctl('member', 'list')).split('\n').find((text) => text.includes(` ${other.url},`))
    const [id] = line?.split(',') ?? []
    if (id === undefined) throw new Error(`${other.url} is no member of the cluster`)
    await this.#change('remove', id)
  }

  /** A cluster refuses changes until its members have been connected for 5 s. */
  async #change(...args: readonly string[]): Promise<string> {
    let output = ''
    await eventually('the cluster takes a change', async () => {
      output = await this.ctl('member', ...args)
      return true
    })
    return output
  }

  get hasEnded(): boolean {
    return this.running().hasEnded
  }

  /** Starts it again with its data. */
  async start(): Promise<void> {
    await this.launch()
    await this.ready()
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Ends it, with its data. */
  async stop(): Promise<void> {
    await this.kill()
    const { dir, isOwnDir } = this.#place
    if (isOwnDir) rmSync(dir, { recursive: true, force: true })
  }

  /** The output of `etcdctl`. Rejects with an error whose message has the output for errors. */
  async ctl(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(etcdctl, [`--endpoints=${this.url}`, ...args], { env: { ETCDCTL_API: '3' } })
    return stdout
  }

  /** Whether it is the leader of its cluster. */
  async isLeader(): Promise<boolean> {
    const [status] = JSON.parse(await this.ctl('endpoint', 'status', '-w', 'json'))
    return status.Status.leader === status.Status.header.member_id
  }

  /** One figure of `/metrics`, such as `etcd_server_proposals_applied_total`. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text()
    const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text) ?? []
    return Number(value)
  }

  /** Starts its process, again with its data, and does not wait for an answer: without a quorum there is none. */
  async launch(): Promise<void> {
    if (etcdProgram.path === undefined) throw new Error(etcdProgram.whyNot)
    const { name, peerPort, advertisedPort, dir, cluster, state, options } = this.#place
    const args = [
      ...['--name', name, '--data-dir', join(dir, 'data'), '--log-level', 'warn', '--unsafe-no-fsync'],
      ...['--listen-client-urls', this.url, '--advertise-client-urls', this.url],
      ...['--listen-peer-urls', peerUrl(peerPort), '--initial-advertise-peer-urls', peerUrl(advertisedPort)],
      ...['--initial-cluster', cluster, '--initial-cluster-state', state],
      ...(options.args ?? []),
    ]
    this.process = await ServerProcess.spawn(etcdProgram.path, args, join(dir, 'etcd.log'))
  }

  /** Resolves when it answers, which it does when its cluster has a leader. */
  async ready(): Promise<void> {
    const { dir, options } = this.#place
    const started = this.running()
    await eventually(`etcd answers on ${this.port}`, async () => {
      if (started.hasEnded) return true
      if (options.scheme === 'https') return await isListening(this.port)
      const health = await fetch(`${this.url}/health`)
      return ((await health.json()) as { health: string }).health === 'true'
    })
    if (started.hasEnded) {
      throw new Error(`etcd did not start: ${readFileSync(join(dir, 'etcd.log'), 'utf8').slice(-2_000)}`)
    }
  }
}

async function freshPlace(name: string, state: Place['state'], options: EtcdServerOptions, given?: string) {
  const dir = given ?? mkdtempSync(join(tmpdir(), 'leasehold-etcd-'))
  const { port, peerPort } = await freePorts('port', 'peerPort')
  return { name, port, peerPort, advertisedPort: peerPort, dir, isOwnDir: given === undefined, state, options }
}

function peerUrl(peerPort: number): string {
  return `http://127.0.0.1:${peerPort}`
}

/** A server that wants certificates of its clients is not asked for more. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}

function besideEtcd(): string {
  return join(dirname(etcdProgram.path ?? ''), 'etcdctl')
}

/** The cache has it in the folder of the server. */
function cachedEtcdctl(): string {
  return join(process.env.SERVER_CACHE ?? join(homedir(), '.cache', 'test-servers'), 'etcd', 'etcdctl')
}
