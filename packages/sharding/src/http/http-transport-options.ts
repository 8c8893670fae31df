import { type Clock, LeaseConfigurationError, systemClock } from '@leasehold/core'
import { checkFault, faultOfInterval, isCount, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'

/** The certificates of mutual TLS, as PEM texts. Both sides show a certificate, and check that of the other side. */
export interface HttpTransportTls {
  /** The certificate of the authority that has signed the certificates of all processes; several can stand in one text. */
  readonly ca: string | Buffer
  /** The certificate of this process. Its names must include the host of `address`. */
  readonly cert: string | Buffer
  /** The private key of `cert`. */
  readonly key: string | Buffer
}

/** The options of {@link httpTransport}. */
export interface HttpTransportOptions {
  /**
   * The URL at which the other processes reach this one, such as `http://10.0.0.4:7001`. It may have a path, where a proxy or
   * your own server needs one. With port 0, the system chooses a port.
   */
  readonly address: string
  /**
   * Where the server of the transport listens: the host and port of `address` unless given. `false`: there is no such server,
   * because you mount `handler` or `fetch` into your own one.
   */
  readonly listen?: { readonly host?: string; readonly port?: number } | false
  /**
   * A text that all processes of the region know. A batch of a process without it is refused. Without `secret` and `tls`,
   * everybody who can reach the port can send events.
   */
  readonly secret?: string
  /** Certificates for mutual TLS, for an `address` with https. Without a server of its own, the transport only sends with them. */
  readonly tls?: HttpTransportTls
  /** The largest batch that is sent and taken, in bytes; 4 MiB unless given. Give all processes the same limit. */
  readonly bodyLimit?: number
  /** How many batches are taken at the same time; 256 unless given. More are refused, and their senders send them later. */
  readonly maxRequests?: number
  /** How long a batch may take from the connection to the answer, in milliseconds; 10 s unless given. */
  readonly requestTimeout?: number
  /** The clock of the time limits; the system clock unless given. */
  readonly clock?: Clock
}

const optionNames: OptionNames<HttpTransportOptions> = {
  address: true,
  listen: true,
  secret: true,
  tls: true,
  bodyLimit: true,
  maxRequests: true,
  requestTimeout: true,
  clock: true,
}

/** The options, checked and complete. */
export interface CheckedHttpOptions {
  readonly address: URL
  /** `undefined`: no server of its own. */
  readonly listen: { readonly host: string; readonly port: number } | undefined
  readonly secret: string | undefined
  readonly tls: HttpTransportTls | undefined
  readonly bodyLimit: number
  readonly maxRequests: number
  readonly requestTimeout: number
  readonly clock: Clock
}

const DEFAULT_BODY_LIMIT = 4 * 1024 * 1024

/** Throws a `LeaseConfigurationError` that says which option to change. */
export function checkedHttpOptions(given: HttpTransportOptions): CheckedHttpOptions {
  // A program in JavaScript may give none.
  const options = given ?? {}
  checkOptionNames('httpTransport', options, optionNames)
  const { bodyLimit = DEFAULT_BODY_LIMIT, maxRequests = 256, requestTimeout = 10_000, clock = systemClock } = options
  checkFault(faultOfInterval('requestTimeout', requestTimeout))
  for (const [name, value] of Object.entries({ bodyLimit, maxRequests })) {
    if (!isCount(value) || value === 0) refuse(`${name} must be a whole number of 1 or more, not ${shownValue(value)}`)
  }
  const address = checkedAddress(options.address)
  checkSecret(options)
  const tls = checkedTls(options, address)
  const listen = checkedListen(options, address)
  return { address, listen, secret: options.secret, tls, bodyLimit, maxRequests, requestTimeout, clock }
}

function checkedAddress(given: unknown): URL {
  const example = `an URL at which the other processes reach this one, such as 'http://10.0.0.4:7001'`
  if (typeof given !== 'string') refuse(`address must be ${example}, not ${shownValue(given)}`)
  const address = URL.canParse(given) ? new URL(given) : undefined
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    refuse(`address must be ${example}, not ${shownValue(given)}`)
  }
  // Records of the store show the address to everybody who can read them.
  if (address.username !== '' || address.password !== '') {
    refuse(
      'address must have no user name and no password, because the records of the store show it: use the option secret',
    )
  }
  if (/^(0\.0\.0\.0|\[::\])$/.test(address.hostname)) {
    refuse(`address must be ${example}; to listen on all addresses, set listen: { host: '0.0.0.0' }`)
  }
  if (address.search !== '' || address.hash !== '') refuse(`address must end with its path, without ? and #`)
  return address
}

function checkSecret(options: HttpTransportOptions): void {
  if (!Object.hasOwn(options, 'secret')) return
  // An environment variable that is not set must not open the port to everybody.
  if (typeof options.secret !== 'string' || options.secret === '') {
    refuse('secret must be a text that is not empty: set it, or leave the option out to accept batches from everybody')
  }
}

function checkedTls(options: HttpTransportOptions, address: URL): HttpTransportTls | undefined {
  const { tls } = options
  const isSecure = address.protocol === 'https:'
  if (tls === undefined) {
    if (Object.hasOwn(options, 'tls')) refuse('tls must have ca, cert and key: set them, or leave the option out')
    if (isSecure && options.listen !== false) {
      refuse(
        `address has https, so tls must have ca, cert and key; or mount the transport into your own server: listen: false`,
      )
    }
    return undefined
  }
  if (!isSecure) refuse('tls needs an address with https, because the other processes connect to the address')
  for (const name of ['ca', 'cert', 'key'] as const) {
    if (!tls[name]?.includes('-----BEGIN ')) refuse(`tls.${name} must be a PEM text: it has '-----BEGIN' in it`)
  }
  return tls
}

function checkedListen(options: HttpTransportOptions, address: URL): CheckedHttpOptions['listen'] {
  const { listen = {} } = options
  if (listen === false) {
    if (address.port === '0') refuse('address must have the port of your own server, because listen is false')
    return undefined
  }
  if (typeof listen !== 'object' || listen === null) {
    refuse(`listen must be { host, port } or false, not ${shownValue(listen)}`)
  }
  const { host = address.hostname.replace(/^\[(.*)\]$/, '$1'), port = portOf(address) } = listen
  if (typeof host !== 'string' || host === '') refuse(`listen.host must be a host, not ${shownValue(host)}`)
  if (!isCount(port) || port > 65_535) refuse(`listen.port must be a port from 0 to 65535, not ${shownValue(port)}`)
  return { host, port }
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

function refuse(reason: string): never {
  throw new LeaseConfigurationError(reason)
}
