import { readFile } from 'node:fs/promises'
import type { StoreCall } from '@leasehold/core/store'
import { checkedTexts, checkOptionNames, closedError, untilAborted } from '@leasehold/core/store-kit'
import type { NatsClient, NatsHeaders } from './client/nats-client.js'
import { Link } from './link.js'
import { misconfigured, type NatsOptions } from './nats-options.js'

/** How a connection is made: the options of the configuration with these names. */
export type ConnectionOptions = Partial<Omit<NatsOptions, 'bucket' | 'domain' | 'clockDifference' | 'create' | 'probe'>>

const optionNames = {
  servers: true,
  user: true,
  password: true,
  token: true,
  nkeyFile: true,
  credsFile: true,
  caFile: true,
  certFile: true,
  keyFile: true,
} as const

/**
 * The connection of a store: the user's own, or one that is made at the first request, and again when it has ended. The
 * library connects again by itself after a break.
 */
export class Connection {
  readonly #given: Link | undefined
  readonly #options: ConnectionOptions
  #own: Promise<Link> | undefined
  #made: Link | undefined
  #isClosed = false

  /** `owner`: the class that was given the options, for errors. */
  constructor(source: NatsClient | ConnectionOptions, owner: string) {
    if (typeof source !== 'object' || source === null) {
      throw misconfigured(`${owner} needs a connection of @nats-io/transport-node, or options such as { servers }`)
    }
    this.#given = isClient(source) ? new Link(source) : undefined
    this.#options = isClient(source) ? {} : source
    checkOptionNames<ConnectionOptions>(owner, this.#options, optionNames, { store: 'nats' })
    const { servers } = this.#options
    if (servers === undefined) return
    const addresses = checkedTexts('servers', servers, { example: 'nats://localhost:4222', store: 'nats' })
    // The library would leave it out.
    if (addresses.some((address) => address.includes('@'))) {
      throw misconfigured(
        "servers must be addresses without a user: give 'user' and 'password', or 'token', beside them",
      )
    }
  }

  /** Rejects when the call is aborted: the attempt to connect goes on for later calls. */
  async link(call: StoreCall): Promise<Link> {
    if (this.#isClosed) throw closedError('nats')
    return this.#given ?? (await untilAborted(this.#connected(), call))
  }

  async headers(): Promise<NatsHeaders> {
    return (await load()).headers()
  }

  /** Ends the connection if it is not the user's own. Does not wait for one that is still being made. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#given?.close()
    this.#own?.then(drained, () => {})
    if (this.#made !== undefined) await drained(this.#made)
  }

  #connected(): Promise<Link> {
    if (this.#own !== undefined) return this.#own
    const connecting = connect(this.#options).then((client) => new Link(client))
    const forget = (): void => {
      if (this.#own !== connecting) return
      this.#own = undefined
      this.#made = undefined
    }
    connecting
      .then((link) => {
        this.#made = link
        return link.client.closed()
      })
      .then(forget, forget)
    this.#own = connecting
    return connecting
  }
}

async function drained({ client }: Link): Promise<void> {
  if (!client.isClosed()) await client.drain().catch(() => {})
}

function isClient(source: NatsClient | ConnectionOptions): source is NatsClient {
  return typeof (source as Partial<NatsClient>).request === 'function'
}

async function load(): Promise<typeof import('@nats-io/transport-node')> {
  return await import('@nats-io/transport-node').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw misconfigured('@leasehold/nats needs @nats-io/transport-node: npm install @nats-io/transport-node', cause)
  })
}

async function connect(options: ConnectionOptions): Promise<NatsClient> {
  const { connect: open, credsAuthenticator, nkeyAuthenticator } = await load()
  const {
    servers = ['nats://localhost:4222'],
    user,
    password,
    token,
    nkeyFile,
    credsFile,
    caFile,
    certFile,
    keyFile,
  } = options
  const isSecure = [caFile, certFile, keyFile].some((file) => file !== undefined) || servers.some(isOverTls)
  const creds = await contentOf('creds-file', credsFile)
  const seed = await contentOf('nkey-file', nkeyFile)
  return await open({
    name: 'leasehold',
    servers: [...servers],
    // It goes on for as long as the store is open.
    maxReconnectAttempts: -1,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...(creds !== undefined && { authenticator: credsAuthenticator(creds) }),
    ...(seed !== undefined && { authenticator: nkeyAuthenticator(seed) }),
    ...(isSecure && {
      tls: { ...(caFile && { caFile }), ...(certFile && { certFile }), ...(keyFile && { keyFile }) },
    }),
  })
}

/** The library ignores the scheme of an address. */
function isOverTls(address: string): boolean {
  return address.startsWith('tls:')
}

async function contentOf(option: string, file: string | undefined): Promise<Uint8Array | undefined> {
  if (file === undefined) return undefined
  try {
    const text = await readFile(file, 'utf8')
    return Buffer.from(text.trim())
  } catch (cause) {
    throw misconfigured(`${option} cannot be read: ${(cause as Error).message}`, cause)
  }
}
