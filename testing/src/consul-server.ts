import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { certificate } from './certificate.js'
import { eventually } from './eventually.js'
import { freePorts } from './free-port.js'
import type { PeerAddress } from './peer-address.js'
import { ServerProcess } from './server-process.js'
import { serverProgram } from './server-program.js'
import { StoppableServer } from './stoppable-server.js'

export const consulProgram = serverProgram('CONSUL', 'consul')

export interface ConsulServerOptions {
  /** Added to its configuration, as JSON has it: `{ acl: { … } }`. */
  readonly config?: Readonly<Record<string, unknown>>
  /** How many servers the cluster has; 1 unless given. */
  readonly servers?: number
  /** The ACL token with which the tests ask it. */
  readonly token?: string
  /** Whether it keeps its data on disk, for a restart; in memory unless given, which is faster. */
  readonly durable?: boolean
  /** Whether it is the client agent of a cluster, which has no data of its own. */
  readonly isClient?: boolean
  /** It then serves HTTPS only, under a certificate for `127.0.0.1` and `localhost`: see `ca`. */
  readonly tls?: boolean
  /** The address by which the other servers reach it, at the port at which it listens on 127.0.0.1; that one unless given. */
  readonly advertised?: string | undefined
}

/** How often other ports are tried. */
const ATTEMPTS = 5

interface Place {
  readonly dir: string
  readonly name: string
  readonly ports: { readonly http: number; readonly serf: number; readonly server: number }
  readonly ca: string | undefined
  readonly args: readonly string[]
  readonly token: string | undefined
}

/**
 * A real `consul agent` of this machine, as a server. It listens on 127.0.0.1, keeps its data in a temporary folder, and
 * does not outlive the process of the tests. Its smallest session ttl is a second, so that tests need not wait for ten.
 */
export class ConsulServer extends StoppableServer {
  readonly name: string
  readonly port: number
  readonly ca: string | undefined
  readonly #place: Place

  private constructor(place: Place) {
    super()
    this.#place = place
    this.name = place.name
    this.port = place.ports.http
    this.ca = place.ca
  }

  /** Resolves when it can write. */
  static async start(options: ConsulServerOptions = {}): Promise<ConsulServer> {
    for (let attempt = 1; ; attempt += 1) {
      const server = new ConsulServer(await prepare('server-1', options))
      try {
        await server.launch()
        await server.ready()
        return server
      } catch (error) {
        await server.stop()
        if (attempt === ATTEMPTS || !String(error).includes('in use')) throw error
      }
    }
  }

  /**
   * The servers of a cluster of their own; resolves when they have a leader. `peerAddress`: they reach each other directly unless
   * given; it is made at the same port of {@link peerHost}.
   */
  static async cluster(
    size: number,
    options: ConsulServerOptions = {},
    peerAddress?: PeerAddress,
  ): Promise<readonly ConsulServer[]> {
    const servers: ConsulServer[] = []
    const processes = (): readonly (number | undefined)[] => servers.map((server) => server.process?.pid)
    try {
      for (let place = 0; place < size; place += 1) {
        const advertised = peerAddress === undefined ? {} : { advertised: peerHost(place) }
        const joined = { ...options, servers: size, ...advertised }
        const server = await ConsulServer.join(`server-${place}`, joined, servers)
        servers.push(server)
        await peerAddress?.(place, server.#place.ports.server, processes)
      }
      for (const server of servers) await server.ready()
      return servers
    } catch (error) {
      for (const server of servers) await server.stop()
      throw error
    }
  }

  /** The servers of a cluster, or its client agent: started, but perhaps without a leader yet. */
  static async join(
    name: string,
    options: ConsulServerOptions,
    members: readonly ConsulServer[],
  ): Promise<ConsulServer> {
    const retry = members.map((member) => `127.0.0.1:${member.#place.ports.serf}`)
    const { servers = 1, ...others } = options
    const config = { retry_join: retry, retry_interval: '200ms', ...others.config }
    const server = new ConsulServer(await prepare(name, { ...others, servers, config }))
    await server.launch()
    return server
  }

  /** Of its Raft peer, by which the others know the leader. */
  get raftAddress(): string {
    return `127.0.0.1:${this.#place.ports.server}`
  }

  get url(): string {
    return `${this.ca === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`
  }

  /** Starts it again on the same ports and folder; resolves when it can write. */
  async restart(): Promise<void> {
    await this.kill()
    await this.launch()
    await this.ready()
  }

  /** Ends it, frozen or not, with its folder. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#place.dir, { recursive: true, force: true })
  }

  /** Resolves when there is a leader, and sessions of this node can be created. */
  async ready(): Promise<void> {
    await eventually(`consul can write on ${this.port}`, async () => {
      if (this.process?.hasEnded === true) return true
      const { ID } = (await this.request('PUT', '/session/create', { body: '{"TTL":"10s"}' })) as { ID: string }
      return (await this.request('PUT', `/session/destroy/${ID}`)) === true
    })
    if (this.process?.hasEnded === true) throw new Error(`consul did not start: ${this.log}`)
  }

  get log(): string {
    return readFileSync(join(this.#place.dir, 'consul.log'), 'utf8').slice(-3_000)
  }

  /** The parsed answer; a text where it is not JSON. Rejects with the text of an error. */
  async request(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    { body, token = this.#place.token }: { readonly body?: string; readonly token?: string | undefined } = {},
  ): Promise<unknown> {
    const headers = token === undefined ? {} : { 'x-consul-token': token }
    const sent = (this.ca === undefined ? http : https).request(`${this.url}/v1${path}`, {
      method,
      headers,
      timeout: 5_000,
      ...(this.ca === undefined ? {} : { ca: this.ca }),
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer within 5 s')))
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const said = await text(answer)
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${said}`)
    try {
      return JSON.parse(said)
    } catch {
      return said
    }
  }

  /** The command line of Consul at this server: its output. Rejects when it exits with an error. */
  async command(...args: readonly string[]): Promise<string> {
    const child = spawn(consulProgram.path ?? 'consul', args, {
      env: { ...process.env, CONSUL_HTTP_ADDR: this.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    if (code !== 0) throw new Error(`consul ${args.join(' ')}: ${errors}${output}`)
    return output
  }

  /** Whether it leads its cluster, as it sees it itself. */
  async isLeader(): Promise<boolean> {
    const { Stats } = (await this.request('GET', '/agent/self')) as { Stats: { consul?: { leader?: string } } }
    return Stats.consul?.leader === 'true'
  }

  /** The index of the last entry of the Raft log. */
  async raftIndex(): Promise<number> {
    const { Stats } = (await this.request('GET', '/agent/self')) as { Stats: { raft: { last_log_index: string } } }
    return Number(Stats.raft.last_log_index)
  }

  /** Starts its process, again with its data, and does not wait until there is a leader. */
  async launch(): Promise<void> {
    if (consulProgram.path === undefined) throw new Error(consulProgram.whyNot)
    const { dir, args } = this.#place
    this.process = await ServerProcess.spawn(consulProgram.path, args, join(dir, 'consul.log'))
  }
}

/** An address of this machine for the server with this number, where the others look for it. */
export function peerHost(server: number): string {
  return `127.0.1.${server + 1}`
}

async function prepare(name: string, options: ConsulServerOptions): Promise<Place> {
  const { config, token, servers = 1, isClient = false, tls = false, advertised } = options
  const { durable = servers > 1 || isClient } = options
  const dir = mkdtempSync(join(tmpdir(), 'leasehold-consul-'))
  const ports = await freePorts('http', 'serf', 'server')
  const pems = tls ? await certificate() : undefined
  const keep = (file: string, content: string): string => {
    writeFileSync(join(dir, file), content)
    return join(dir, file)
  }
  const secure =
    pems === undefined
      ? {}
      : { cert_file: keep('cert.pem', pems.cert), key_file: keep('key.pem', pems.key), ca_file: join(dir, 'cert.pem') }
  const settings = {
    server: !isClient,
    ...(durable ? { data_dir: join(dir, 'data') } : {}),
    ...(durable && !isClient ? { bootstrap_expect: servers } : {}),
    node_name: name,
    bind_addr: '127.0.0.1',
    log_level: 'warn',
    disable_update_check: true,
    session_ttl_min: '1s',
    performance: { raft_multiplier: 1 },
    limits: { http_max_conns_per_client: 10_000 },
    skip_leave_on_interrupt: true,
    ports: {
      http: tls ? -1 : ports.http,
      https: tls ? ports.http : -1,
      dns: -1,
      grpc: -1,
      serf_lan: ports.serf,
      serf_wan: -1,
      server: ports.server,
    },
    ...secure,
    // By gossip, the servers tell each other the address at which they are reached by the others.
    ...(advertised === undefined ? {} : { advertise_addr: advertised, serf_lan: '0.0.0.0' }),
    ...config,
  }
  const file = keep('consul.json', JSON.stringify(settings))
  const args = ['agent', ...(durable ? [] : ['-dev']), `-config-file=${file}`]
  return { dir, name, ports, ca: pems?.cert, args, token }
}
