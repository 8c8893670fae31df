import type { Metadata } from '@grpc/grpc-js'
import { type Clock, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import {
  checkedTexts,
  checkMisplaced,
  checkOptionNames,
  hasParts,
  type Misplaced,
  type OptionNames,
  untilAborted,
} from '@leasehold/core/store-kit'
import { misconfigured } from '../etcd-options.js'
import { AccessToken } from './access-token.js'
import type { Answer, Method, Request, RequestOp, TxnRequest, TxnResponse } from './api.js'
import type { EtcdTls } from './channel.js'
import type { Connection, Credential } from './connection.js'
import { type Etcd3Like, poolOf, signInWith } from './etcd3-object.js'
import { failOver } from './fail-over.js'
import type { WatchStream } from './grpc-calls.js'
import {
  type GrpcConnection,
  type GrpcCredentials,
  isGrpcChannel,
  isGrpcClient,
  isGrpcCredentials,
} from './grpc-connection.js'
import { joinedReads, joinedWrites } from './joining.js'
import { Member } from './member.js'
import { TxnLane } from './txn-lane.js'

const LOCAL = 'http://localhost:2379'
const DEFAULT_PORT = 2_379

/** How long a member may take, in milliseconds, before the next one is asked as well. */
const PATIENCE = 300

/** The time limit of a request for a token, in milliseconds: it is shared by operations with limits of their own. */
const AUTHENTICATION_TIMEOUT = 5_000

export interface EtcdClientOptions {
  /** The client URLs of the members; `http://localhost:2379` unless given. All `http:`, or all `https:`. */
  readonly endpoints?: readonly string[] | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly tls?: EtcdTls | undefined
  /** In place of `tls`: `ChannelCredentials` of `@grpc/grpc-js`, such as those of `credentials.createSsl`. */
  readonly credentials?: GrpcCredentials | undefined
  /**
   * In place of `endpoints`, `tls` and `credentials`: a client or a channel of `@grpc/grpc-js` for each member, with its
   * address, credentials and channel options. They stay open.
   */
  readonly clients?: readonly [GrpcConnection, ...GrpcConnection[]] | undefined
  /** In place of all of these, and of `username` and `password`: your `Etcd3` object of etcd3. It stays open. */
  readonly etcd3?: Etcd3Like | undefined
  /** The machine's clock unless given. It is used only for time limits and pauses. */
  readonly clock?: Clock | undefined
}

const optionNames: OptionNames<EtcdClientOptions> = {
  endpoints: true,
  username: true,
  password: true,
  tls: true,
  credentials: true,
  clients: true,
  etcd3: true,
  clock: true,
}

/**
 * The connections to an etcd cluster, which stores and guards can share. It connects at the first request, and loads gRPC
 * then. A request goes to the member that answered last. If that one fails or is slow, it goes to the next one as well.
 */
export class EtcdClient {
  /** @internal */
  readonly clock: Clock
  /** The URLs of the members that are reached without TLS, for requests beside gRPC. @internal */
  readonly plainEndpoints: readonly string[]
  readonly #ways: Ways
  #members: readonly Member[] = []
  readonly #token: AccessToken<string | Metadata> | undefined
  readonly #reads: TxnLane
  readonly #writes: TxnLane
  #isClosed = false

  /** Throws a `LeaseConfigurationError` if the options are not valid. */
  constructor(options: EtcdClientOptions = {}) {
    checkMisplaced('EtcdClient', options, misplaced, 'etcd')
    checkOptionNames('EtcdClient', options, optionNames, { store: 'etcd' })
    const { username, password, clock = systemClock } = options
    this.#ways = waysOf(options)
    const { clients, etcd3, endpoints = [LOCAL] } = options
    const isOwn = clients === undefined && etcd3 === undefined
    const addresses = isOwn ? endpoints.filter((one) => one.startsWith('http:')) : []
    this.plainEndpoints = addresses.map((one) => `http://${addressOf(one)}`)
    this.clock = clock
    const transact = (request: TxnRequest, call: StoreCall) => this.request('Txn', request, call)
    this.#reads = new TxnLane(transact, clock, joinedReads)
    this.#writes = new TxnLane(transact, clock, joinedWrites)
    if ((username === undefined) !== (password === undefined)) {
      throw misconfigured('username and password need each other: give both, or none')
    }
    if (username !== undefined && password !== undefined) {
      this.#token = new AccessToken(() => this.#inTime((call) => this.#authenticate(username, password, call)))
    } else if (etcd3 !== undefined) {
      const signIn = signInWith(poolOf(etcd3).authenticator)
      this.#token = new AccessToken(() => this.#inTime((call) => untilAborted(signIn(), call)))
    }
  }

  /**
   * Resolves with the first answer of a member. A request that is not `repeatable` is sent once, to the member that answered
   * last. Rejects with the error of gRPC, or with the reason of the abort.
   *
   * @internal
   */
  async request<M extends Method>(
    method: M,
    request: Request<M>,
    call: StoreCall,
    isRepeatable = true,
  ): Promise<Answer<M>> {
    const send = (credential: Credential) => this.#send(method, request, credential, call, isRepeatable)
    return this.#token === undefined ? await send(undefined) : await this.#token.with(send, call)
  }

  /** Reads ranges at one revision, linearizable, in one request with other reads of this time. @internal */
  read(ranges: readonly RequestOp[], call: StoreCall): Promise<TxnResponse> {
    const request: TxnRequest = { compare: [], success: ranges, failure: [] }
    return this.#reads.send(request, request, call)
  }

  /**
   * Carries out a transaction, in one request with transactions of other names at this time. Those of one revision have
   * different names, so that their writes never meet. On failure, it has to read the keys that it compares.
   *
   * @internal
   */
  write(name: string, request: TxnRequest, call: StoreCall): Promise<TxnResponse> {
    return this.#writes.send(name, request, call)
  }

  /** A stream to the member that answered last; `drop` has the next stream go to another one. @internal */
  async watch(call: StoreCall): Promise<{ stream: WatchStream; drop: () => void }> {
    const token = await this.#token?.get(call)
    const [member] = await this.#load(call)
    return {
      stream: member.watch(token),
      drop: () => {
        this.#token?.forget()
        if (this.#members[0] === member) this.#members = [...this.#members.slice(1), member]
      },
    }
  }

  /** Ends all connections. Requests are rejected from now on. */
  close(): void {
    this.#isClosed = true
    for (const member of this.#members) member.drop()
  }

  /** The members, beginning with the one that answered last. */
  async #load(call: StoreCall): Promise<readonly [Member, ...Member[]]> {
    if (this.#isClosed) throw closedError()
    if (this.#members.length === 0) {
      const open = await untilAborted(this.#ways(), call)
      if (this.#isClosed) throw closedError()
      // Another request may have loaded it meanwhile.
      if (this.#members.length === 0) {
        this.#members = open.map((one) => new Member(one, this.clock))
      }
    }
    return this.#members as readonly [Member, ...Member[]]
  }

  async #send<M extends Method>(
    method: M,
    request: Request<M>,
    credential: Credential,
    call: StoreCall,
    isRepeatable: boolean,
  ): Promise<Answer<M>> {
    const members = await this.#load(call)
    const ask = async (member: Member, own: StoreCall): Promise<Answer<M>> => {
      const answer = await member.unary(method, request, credential, own)
      if (this.#members[0] !== member) {
        this.#members = [member, ...this.#members.filter((other) => other !== member)]
      }
      return answer
    }
    return isRepeatable ? await failOver(members, ask, this.clock, PATIENCE, call) : await ask(members[0], call)
  }

  async #authenticate(name: string, password: string, call: StoreCall): Promise<string> {
    return (await this.#send('Authenticate', { name, password }, undefined, call, true)).token
  }

  async #inTime<T>(authenticate: (call: StoreCall) => Promise<T>): Promise<T> {
    const call = new AbortableCall(AUTHENTICATION_TIMEOUT)
    const cancel = this.clock.schedule(AUTHENTICATION_TIMEOUT, () => {
      call.abort(new LeaseUnavailableError('the request for a token was not answered', { store: 'etcd' }))
    })
    try {
      return await authenticate(call)
    } finally {
      cancel()
    }
  }
}

function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the etcd client is closed: open a new one', { store: 'etcd' })
}

const misplaced: readonly Misplaced[] = [
  ['clients: [client]', (given) => isGrpcClient(given) || isGrpcChannel(given)],
  ['etcd3: client', (given) => hasParts(given, 'kv', 'watchClient')],
  [`endpoints: ['${LOCAL}']`, (given) => typeof given === 'string'],
]

/** Loads gRPC. Each function opens a connection to one member. */
type Ways = () => Promise<readonly (() => Connection)[]>

/** Throws a `LeaseConfigurationError` if the options contradict each other, or one is not valid. */
function waysOf({ endpoints: given, tls, credentials, clients, etcd3, username, password }: EtcdClientOptions): Ways {
  if (etcd3 !== undefined) {
    if ([given, tls, credentials, clients, username, password].some((one) => one !== undefined)) {
      throw misconfigured('an Etcd3 object has addresses, certificates and a user of its own: give etcd3 alone')
    }
    const { hosts } = poolOf(etcd3)
    return async () => {
      const { Etcd3Channel } = await import('./etcd3-channel.js')
      return hosts.map((host) => () => new Etcd3Channel(host))
    }
  }
  if (clients !== undefined) {
    if ([given, tls, credentials].some((one) => one !== undefined)) {
      throw misconfigured('clients have addresses and certificates of their own: give clients, or endpoints and tls')
    }
    const isList = Array.isArray(clients) && clients.length > 0
    if (!isList || !clients.every((one) => isGrpcClient(one) || isGrpcChannel(one))) {
      throw misconfigured('clients must be a list of clients or channels of @grpc/grpc-js, one for each member')
    }
    return async () => {
      const { Channel } = await import('./channel.js')
      return clients.map((client) => () => Channel.of(client))
    }
  }
  const endpoints = given === undefined ? [LOCAL] : given
  const checked = checkedTexts('endpoints', endpoints, { example: LOCAL, store: 'etcd' })
  const certificates = certificatesOf(checked, tls, credentials)
  return async () => {
    const { Channel } = await import('./channel.js')
    return checked.map(addressOf).map((address) => () => Channel.to(address, certificates))
  }
}

function addressOf(endpoint: string): string {
  const { hostname, port } = new URL(endpoint)
  return `${hostname}:${port || DEFAULT_PORT}`
}

/** The certificates if the endpoints use TLS. The error shows no endpoint: it may have a password in it. */
function certificatesOf(
  endpoints: readonly string[],
  tls: EtcdTls | undefined,
  credentials: GrpcCredentials | undefined,
): EtcdTls | GrpcCredentials | undefined {
  const protocols = new Set(endpoints.map((endpoint) => (URL.canParse(endpoint) ? new URL(endpoint).protocol : '')))
  const [protocol] = protocols
  if (protocols.size !== 1 || (protocol !== 'http:' && protocol !== 'https:')) {
    throw misconfigured('endpoints must be URLs like http://host:2379 or https://host:2379, all of the same kind')
  }
  if (tls !== undefined && credentials !== undefined) {
    throw misconfigured('credentials have certificates of their own: give credentials, or tls')
  }
  if (credentials !== undefined && !isGrpcCredentials(credentials)) {
    throw misconfigured(
      'credentials must be ChannelCredentials of @grpc/grpc-js, such as those of credentials.createSsl',
    )
  }
  const isSecure = protocol === 'https:'
  if (credentials !== undefined && credentials._isSecure() !== isSecure) {
    throw misconfigured('credentials of TLS need endpoints with https:, and insecure ones need http:')
  }
  if (credentials !== undefined) return credentials
  if (!isSecure) {
    if (tls === undefined) return undefined
    throw misconfigured('certificates need TLS: begin the endpoints with https:')
  }
  if ((tls?.cert === undefined) !== (tls?.key === undefined)) {
    throw misconfigured('a client certificate needs its key: give both cert and key')
  }
  return tls ?? {}
}
