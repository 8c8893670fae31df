import { misconfigured } from '../redis-options.js'
import type { ClientAdapter, Connection, Scan, ScriptCall } from './connection.js'
import { keySlot } from './key-slot.js'
import { ServerReply } from './server-reply.js'
import { Traffic } from './traffic.js'
import { addressIn } from './transport.js'

/** The part of `GlideClient` of Valkey GLIDE 2 that the store uses. */
export interface GlideClient {
  customCommand(args: string[], options?: GlideCommandOptions): Promise<unknown>
  subscribe(channels: Iterable<string>, timeoutMs: number): Promise<unknown>
  updateConnectionPassword(password: string | null, immediateAuth?: boolean): Promise<unknown>
  close(errorMessage?: string): void
}

/** The part of `GlideClusterClient` of Valkey GLIDE 2 that the store uses. */
export interface GlideClusterClient extends GlideClient {
  fcallWithRoute(func: string, args: string[]): Promise<unknown>
}

/** How GLIDE reads an answer (1 is `Decoder.String`), and which node of a cluster gets the command. */
export interface GlideCommandOptions {
  readonly decoder?: 1
  readonly route?: { readonly type: 'routeByAddress'; readonly host: string; readonly port: number } | 'randomNode'
}

/** The configuration of a client, which GLIDE keeps but does not show. */
interface Configuration {
  readonly addresses: readonly { readonly host: string; readonly port?: number }[]
  readonly useTLS?: boolean
  readonly advancedConfiguration?: object
}

const TEXT = { decoder: 1 } as const

/**
 * GLIDE queues the commands of a broken connection, and sends them when it has connected again, even if the client was closed
 * meanwhile. So it must not connect again after a first failure: the engine decides what is safe to repeat. The pause before
 * the second attempt is longer than any command waits.
 */
const alone = {
  requestTimeout: 10_000,
  connectionBackoff: { numberOfRetries: 1, factor: 3_600_000, exponentBase: 1, jitterPercent: 0 },
  lazyConnect: false,
  readFrom: 'primary',
  // The calls of a crowd that claims at once.
  inflightRequestsLimit: 100_000,
  defaultDecoder: TEXT.decoder,
  // RESP2 has no subscription beside commands.
  protocol: undefined,
  clientSideCache: undefined,
}

export function isGlide(client: object): client is GlideClient | GlideClusterClient {
  return 'customCommand' in client && 'updateConnectionPassword' in client
}

export function glideAdapter(client: GlideClient | GlideClusterClient): ClientAdapter {
  const configuration = configurationOf(client)
  const { addresses, useTLS } = configuration
  const [only, ...others] = addresses
  const clustered = 'fcallWithRoute' in client
  const hasOneAddress = only !== undefined && others.length === 0 && !clustered
  return {
    clustered,
    subscribes: true,
    keyPrefix: '',
    address: hasOneAddress ? addressIn({ ...only, tls: useTLS }) : undefined,
    newConnection: () =>
      clustered
        ? new GlideClusterConnection(client, configuration)
        : new GlideConnection(client, configuration),
    run: (call) => run(client, call, (error) => new ServerReply(replyIn(error), { cause: error })),
  }
}

function configurationOf(client: object): Configuration {
  const { config } = client as { readonly config?: Configuration }
  if (config === undefined || !Array.isArray(config.addresses)) {
    throw misconfigured('the client of Valkey GLIDE has no configuration: make it with createClient of GLIDE 2')
  }
  return config
}

async function run(
  client: GlideClient,
  { command, script, keys, args }: ScriptCall,
  toReply: (error: Error) => Error,
): Promise<unknown> {
  return await send(client.customCommand([command, script, String(keys.length), ...keys, ...args], TEXT), toReply)
}

async function send(sent: Promise<unknown>, toReply: (error: Error) => Error): Promise<unknown> {
  try {
    return await sent
  } catch (error) {
    // The subclasses of RequestError are for failures on the way.
    throw error instanceof Error && error.name === 'RequestError' ? toReply(error) : error
  }
}

/** The names that GLIDE gives to the codes of Redis. It leaves other codes as they are, with a colon after them. */
const codes: Readonly<Record<string, string>> = {
  ResponseError: 'ERR',
  NoScriptError: 'NOSCRIPT',
  ReadOnly: 'READONLY',
  PermissionDenied: 'NOPERM',
  AuthenticationFailed: 'WRONGPASS',
  BusyLoadingError: 'LOADING',
  ExecAbortError: 'EXECABORT',
  TryAgain: 'TRYAGAIN',
  ClusterDown: 'CLUSTERDOWN',
  MasterDown: 'MASTERDOWN',
  CrossSlot: 'CROSSSLOT',
  NotBusy: 'NOTBUSY',
}

/** The error as the server sent it. */
function replyIn({ message }: Error): string {
  const [, code = '', rest = ''] = /^(?:An error was signalled by the server: - )?(\w+): (.*)$/s.exec(message) ?? []
  return code === '' ? message : `${codes[code] ?? code} ${rest}`
}

/** Of several addresses, and of a cluster, the last error: `Connection error: Standalone(Received error for address `…`: …)`. */
function connectFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const [, address, reason = ''] = /Received error for address `([^`]*)`: (.*?)\s*\)?\s*$/s.exec(error.message) ?? []
  const text = reason === '' ? error.message : reason
  const [reply] = /\b(?:NOAUTH|WRONGPASS|NOPERM)\b.*/s.exec(text) ?? []
  if (reply !== undefined) return new ServerReply(replyIn(new Error(reply.trim())))
  const message = address === undefined ? text : `no connection to ${address}: ${text}`
  return Object.assign(new Error(message, { cause: error }), { syscall: 'connect' })
}

interface ClientClass {
  createClient(options: object): Promise<GlideClient>
}

class GlideConnection implements Connection {
  readonly traffic = new Traffic()
  readonly #clientClass: ClientClass
  readonly #configuration: Configuration
  readonly #onEnd: (() => void)[] = []
  #client: GlideClient | undefined
  #onMessage: (channel: string, message: string) => void = () => {}
  #isOver = false

  /** The class is that of the given client, so that the store loads no library. */
  constructor(client: GlideClient, configuration: Configuration) {
    this.#clientClass = client.constructor as unknown as ClientClass
    this.#configuration = configuration
  }

  async connect(): Promise<void> {
    const callback = ({ channel, message }: { channel: unknown; message: unknown }): void => {
      this.#onMessage(String(channel), String(message))
    }
    try {
      this.#client = await this.#clientClass.createClient({
        ...this.#configuration,
        ...alone,
        pubsubSubscriptions: { channelsAndPatterns: {}, callback },
      })
    } catch (error) {
      throw connectFailure(error)
    }
    // An attempt to connect cannot be ended.
    if (this.#isOver) this.#client.close()
  }

  nodeOf(_key: string): string {
    return ''
  }

  prepare(_key: string): Promise<unknown> | undefined {
    return undefined
  }

  async run(call: ScriptCall): Promise<unknown> {
    return await this.ending(run(this.#open, call, (error) => new ServerReply(replyIn(error))))
  }

  scans(): Promise<readonly Scan[]> {
    return Promise.resolve([
      (cursor, pattern, count) => this.command(['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(count)], TEXT),
    ])
  }

  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown> {
    this.#onMessage = (from, message) => {
      if (from === channel) onMessage(message)
    }
    // The caller has a time limit of its own.
    return this.ending(this.#open.subscribe([channel], 0))
  }

  onEnd(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#onEnd.push(callback)
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#client?.close()
    for (const callback of this.#onEnd.splice(0)) callback()
  }

  get #open(): GlideClient {
    if (this.#client === undefined) throw new Error('the connection is not open')
    return this.#client
  }

  protected command(args: string[], options: GlideCommandOptions): Promise<unknown> {
    const sent = this.#open.customCommand(args, options)
    return this.ending(send(sent, (error) => new ServerReply(replyIn(error))))
  }

  /** A client that has closed itself never comes back. */
  protected async ending<R>(sent: Promise<R>): Promise<R> {
    try {
      return await sent
    } catch (error) {
      if (error instanceof Error && error.name === 'ClosingError') this.destroy()
      throw error
    }
  }
}

class GlideClusterConnection extends GlideConnection {
  /** GLIDE does not show which node has a key. So each slot counts as a node: a slot is silent if its node is. */
  override nodeOf(key: string): string {
    return String(keySlot(key))
  }

  override async scans(): Promise<readonly Scan[]> {
    const slots = await this.command(['CLUSTER', 'SLOTS'], { ...TEXT, route: 'randomNode' })
    const masters = new Map<string, { readonly host: string; readonly port: number }>()
    for (const [, , master] of slots as [number, number, [string, number]][]) {
      const [host, port] = master
      masters.set(`${host}:${port}`, { host, port: Number(port) })
    }
    return [...masters.values()].map((address): Scan => {
      const options = { ...TEXT, route: { type: 'routeByAddress', ...address } } as const
      return (cursor, pattern, count) =>
        this.command(['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(count)], options)
    })
  }
}
