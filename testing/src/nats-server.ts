import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.js'
import { freePorts } from './free-port.js'
import { ServerProcess } from './server-process.js'
import { type ServerProgram, serverProgram } from './server-program.js'
import { StoppableServer } from './stoppable-server.js'

/** `nats-server` 2.10. */
export const natsProgram = serverProgram('NATS_SERVER', 'nats-server', 'nats')

/** `nats-server` 2.15. */
export const nats215Program = serverProgram('NATS_SERVER_215', 'nats-server', 'nats215')

export interface NatsServerOptions {
  /** {@link natsProgram} unless given. */
  readonly program?: ServerProgram
  /** Added to its configuration: `authorization { token: t }`. */
  readonly config?: string
  /** Whether it has JetStream, which it has unless given. */
  readonly jetStream?: boolean
  /** The JetStream domain. */
  readonly domain?: string
}

interface Place {
  readonly name: string
  readonly dir: string
  readonly port: number
  readonly monitorPort: number
  readonly routePort: number
  readonly options: NatsServerOptions
}

/** A real `nats-server` of this machine. It listens on 127.0.0.1, and does not outlive the process of the tests. */
export class NatsServer extends StoppableServer {
  readonly name: string
  readonly port: number
  readonly url: string
  readonly #place: Place
  readonly #routes: readonly number[]

  private constructor(place: Place, routes: readonly number[]) {
    super()
    this.#place = place
    this.#routes = routes
    this.name = place.name
    this.port = place.port
    this.url = `nats://127.0.0.1:${place.port}`
  }

  /** Resolves when JetStream can be used. */
  static async start(options: NatsServerOptions = {}): Promise<NatsServer> {
    const server = new NatsServer(await freshPlace('n0', options), [])
    await server.start()
    return server
  }

  /** The servers of one cluster; resolves when JetStream has a leader. */
  static async cluster(size: number, options: NatsServerOptions = {}): Promise<readonly NatsServer[]> {
    const places: Place[] = []
    for (let count = 0; count < size; count += 1) places.push(await freshPlace(`n${count}`, options))
    const routes = places.map(({ routePort }) => routePort)
    const servers = places.map((place) => new NatsServer(place, routes))
    try {
      await Promise.all(servers.map((server) => server.start()))
      await eventually('a leader has seen all servers', async () => {
        const clusters = await Promise.all(servers.map((server) => server.#metaCluster()))
        return clusters.some(({ replicas = [] }) => replicas.filter(({ current }) => current).length === size - 1)
      })
      return servers
    } catch (error) {
      for (const server of servers) await server.stop()
      throw error
    }
  }

  /** Starts it, again with its data. */
  async start(): Promise<void> {
    await this.launch()
    await this.ready()
  }

  /** Starts its process, again with its data, and does not wait until it is well: without a quorum it never is. */
  async launch(): Promise<void> {
    const { program = natsProgram } = this.#place.options
    if (program.path === undefined) throw new Error(program.whyNot)
    const { dir } = this.#place
    const file = join(dir, 'nats.conf')
    writeFileSync(file, this.#config())
    this.process = await ServerProcess.spawn(program.path, ['-c', file], join(dir, 'nats.log'))
  }

  /** Reads its configuration again, with another part. */
  reload(config: string): void {
    writeFileSync(join(this.#place.dir, 'nats.conf'), this.#config(config))
    this.running().signal('SIGHUP')
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Ends it, with its data. */
  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#place.dir, { recursive: true, force: true })
  }

  get log(): string {
    return readFileSync(join(this.#place.dir, 'nats.log'), 'utf8').slice(-3_000)
  }

  /** The servers that keep the settings of JetStream, as this one sees them; its leader has the `replicas`. */
  async #metaCluster(): Promise<{ readonly replicas?: readonly { readonly current: boolean }[] }> {
    const answer = await fetch(`http://127.0.0.1:${this.#place.monitorPort}/jsz`)
    return ((await answer.json()) as { meta_cluster?: object }).meta_cluster ?? {}
  }

  #config(extra = this.#place.options.config ?? ''): string {
    const { name, dir, port, monitorPort, routePort, options } = this.#place
    const { domain, jetStream = true } = options
    const others = this.#routes.map((route) => `nats://127.0.0.1:${route}`)
    return [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `http: "127.0.0.1:${monitorPort}"`,
      jetStream ? `jetstream { store_dir: "${join(dir, 'data')}"${domain ? `, domain: ${domain}` : ''} }` : '',
      others.length === 0
        ? ''
        : `cluster { name: c, listen: "127.0.0.1:${routePort}", routes: ${JSON.stringify(others)} }`,
      extra,
    ].join('\n')
  }

  /** Resolves when JetStream can be used here. */
  async ready(): Promise<void> {
    const started = this.running()
    const path = this.#place.options.jetStream === false ? '/healthz?js-enabled-only=false' : '/healthz'
    await eventually(`nats-server answers on ${this.port}`, async () => {
      if (started.hasEnded) return true
      const answer = await fetch(`http://127.0.0.1:${this.#place.monitorPort}${path}`)
      return answer.ok
    })
    if (started.hasEnded) throw new Error(`nats-server did not start: ${this.log}`)
  }
}

async function freshPlace(name: string, options: NatsServerOptions): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'leasehold-nats-'))
  const { port, monitorPort, routePort } = await freePorts('port', 'monitorPort', 'routePort')
  return { name, dir, port, monitorPort, routePort, options }
}
