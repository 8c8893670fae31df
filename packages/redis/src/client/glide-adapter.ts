import type { Clock } from '@leasehold/core'
import { reasonOf } from '@leasehold/core/internal'
import { misconfigured } from '../redis-options.js'
import type { ClientAdapter, Connection, Scan, ScriptCall } from './connection.js'
import { keySlot } from './key-slot.js'
import { ServerReply } from './server-reply.js'
import { Traffic } from './traffic.js'
import { addressIn, anyReached } from './transport.js'

/** The part of `GlideClient` of Valkey GLIDE 2.3 and later that the store uses. */
export interface GlideClient {
  customCommand(args: string[], options?: GlideCommandOptions): Promise<unknown>
  subscribe(channels: Iterable<string>, timeoutMs: number): Promise<unknown>
  getSubscriptions(): Promise<{ readonly actualSubscriptions: object }>
  updateConnectionPassword(password: string | null, immediateAuth?: boolean): Promise<unknown>
  close(errorMessage?: string): void
}

/** The part of `GlideClusterClient` of Valkey GLIDE 2.3 and later that the store uses. */
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

/** How often a call is sent that nodes of a cluster redirect. */
const REDIRECTIONS = 5

const TEXT = { decoder: 1 } as const

/** How long a command waits for its answer at most, in milliseconds. */
const REQUEST_TIMEOUT = 2_500

/**
 * How often GLIDE is asked whether it is subscribed, in milliseconds. It sends nothing for that. It subscribes again by itself,
 * without saying that it missed messages: after the server has refused a connection, not before this pause.
 */
const LOOK_INTERVAL = 1_000
const RECONNECT_PAUSE = 3_000

/**
 * GLIDE queues the commands of a broken connection, and sends them when it has connected again, even if the client was closed
 * meanwhile. But the engine decides what is safe to repeat: so the pause before GLIDE connects again is longer than a command
 * waits.
 */
const alone = {
  requestTimeout: REQUEST_TIMEOUT,
  connectionBackoff: { numberOfRetries: 1, factor: RECONNECT_PAUSE, exponentBase: 1, jitterPercent: 0 },
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

export function glideAdapter(client: GlideClient | GlideClusterClient, clock: Clock): ClientAdapter {
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
        ? new GlideClusterConnection(client, configuration, clock)
        : new GlideConnection(client, configuration, clock),
    run: (call) => run(client, call, (error) => new ServerReply(replyIn(error), { cause: error })),
  }
}

/** Older versions subscribe only when the client is made. */
function configurationOf(client: object): Configuration {
  const { config } = client as { readonly config?: Configuration }
  if (!('getSubscriptions' in client) || !Array.isArray(config?.addresses)) {
    throw misconfigured('the client of Valkey GLIDE is too old: update @valkey/valkey-glide to 2.3 or later')
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
  Moved: 'MOVED',
  Ask: 'ASK',
}

/** The error as the server sent it. */
function replyIn({ message }: Error): string {
  const [, code = '', rest = ''] = /^(?:An error was signalled by the server: - )?(\w+): (.*)$/s.exec(message) ?? []
  return code === '' ? message : `${codes[code] ?? code} ${rest}`
}

/** Of GLIDE: `Connection error: Standalone(Received error for address `HOST:PORT`: REASON)`, or with `Cluster(…)`. */
function connectFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const [, address, reason = ''] = /Received error for address `([^`]*)`: (.*?)\s*\)?\s*$/s.exec(error.message) ?? []
  const text = reason === '' ? error.message : reason
  if (text.includes('No primary node found')) return new ServerReply('READONLY the server is a replica')
  const [reply] = /\b(?:NOAUTH|WRONGPASS|PermissionDenied|AuthenticationFailed|BusyLoadingError): .*/s.exec(text) ?? []
  if (reply !== undefined) return new ServerReply(replyIn(new Error(reply.replace(/[\s)]+$/, ''))))
  const message = address === undefined ? text : `no connection to ${address}: ${text}`
  return Object.assign(new Error(message, { cause: error }), { syscall: 'connect' })
}

interface ClientClass {
  createClient(options: object): Promise<GlideClient>
}

class GlideConnection implements Connection {
  readonly traffic = new Traffic()
  readonly isTextFirst = true
  readonly #clientClass: ClientClass
  readonly #configuration: Configuration
  readonly #clock: Clock
  readonly #onEnd: (() => void)[] = []
  #client: GlideClient | undefined
  #onMessage: (channel: string, message: string) => void = () => {}
  readonly #over = new AbortController()
  #cancelLook = (): void => {}

  /** The class is that of the given client, so that the store loads no library. */
  constructor(client: GlideClient, configuration: Configuration, clock: Clock) {
    this.#clientClass = client.constructor as unknown as ClientClass
    this.#configuration = configuration
    this.#clock = clock
  }

  async connect(): Promise<void> {
    const callback = ({ channel, message }: { channel: unknown; message: unknown }): void => {
      this.#onMessage(String(channel), String(message))
    }
    await anyReached(this.#configuration.addresses, this.#over.signal)
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

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    this.#onMessage = (from, message) => {
      if (from === channel) onMessage(message)
    }
    // The caller has a time limit of its own.
    await this.ending(this.#open.subscribe([channel], 0))
    this.#lookLater(channel)
  }

  onEnd(callback: () => void): void {
    if (this.#isOver) callback()
    else this.#onEnd.push(callback)
  }

  destroy(): void {
    if (this.#isOver) return
    this.#over.abort()
    this.#cancelLook()
    this.#client?.close()
    for (const callback of this.#onEnd.splice(0)) callback()
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted
  }

  get #open(): GlideClient {
    if (this.#client === undefined) throw new Error('the connection is not open')
    return this.#client
  }

  protected command(args: string[], options: GlideCommandOptions): Promise<unknown> {
    const sent = this.#open.customCommand(args, options)
    return this.ending(send(sent, (error) => new ServerReply(replyIn(error))))
  }

  /** Ends the connection with a client that has closed itself, or whose connection is silent. */
  protected async ending<R>(sent: Promise<R>): Promise<R> {
    try {
      return await sent
    } catch (error) {
      if (error instanceof Error && this.isOverAt(error)) this.destroy()
      throw error
    }
  }

  protected isOverAt({ name }: Error): boolean {
    return name === 'ClosingError' || name === 'TimeoutError'
  }

  #lookLater(channel: string): void {
    if (this.#isOver) return
    const look = async (): Promise<void> => {
      const { actualSubscriptions } = await this.ending(this.#open.getSubscriptions())
      const channels = Object.values(actualSubscriptions).flatMap((some: Iterable<unknown>) => [...some])
      if (channels.map(String).includes(channel)) this.#lookLater(channel)
      else this.destroy()
    }
    this.#cancelLook = this.#clock.schedule(LOOK_INTERVAL, () => void look().catch(() => this.destroy()))
  }
}

class GlideClusterConnection extends GlideConnection {
  /** GLIDE does not show which node has a key. So each slot counts as a node: a slot is silent if its node is. */
  override nodeOf(key: string): string {
    return String(keySlot(key))
  }

  /**
   * GLIDE follows some redirections, and then rejects with the last one. The node that redirects has done nothing, so that
   * the call can be repeated.
   */
  override async run(call: ScriptCall): Promise<unknown> {
    for (let redirections = 1; ; redirections += 1) {
      try {
        return await super.run(call)
      } catch (error) {
        if (redirections === REDIRECTIONS || !/^(?:MOVED|ASK) /.test(reasonOf(error))) throw error
      }
    }
  }

  /** Other nodes may still answer. */
  protected override isOverAt({ name }: Error): boolean {
    return name === 'ClosingError'
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
