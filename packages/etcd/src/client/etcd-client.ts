import { type Clock, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { checkedTexts, checkOptionNames, type OptionNames, untilAborted } from '@leasehold/core/store-kit'
import { misconfigured } from '../etcd-options.js'
import { AccessToken } from './access-token.js'
import type { Answer, Method, Request, RequestOp, TxnRequest, TxnResponse } from './api.js'
import type { Channel, EtcdTls, GrpcClient, WatchStream } from './channel.js'
import { failOver } from './fail-over.js'
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
  /**
   * In place of `endpoints` and `tls`: a client of `@grpc/grpc-js` for each member, with its address, credentials and channel
   * options. They stay open.
   */
  readonly clients?: readonly [GrpcClient, ...GrpcClient[]] | undefined
  /** The machine's clock unless given. It is used only for time limits and pauses. */
  readonly clock?: Clock | undefined
}

const optionNames: OptionNames<EtcdClientOptions> = {
  endpoints: true,
  username: true,
  password: true,
  tls: true,
  clients: true,
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
  /** Each opens a channel to one member. */
  readonly #channels: readonly ((module: ChannelModule) => Channel)[]
  #members: readonly Member[] = []
  readonly #token: AccessToken | undefined
  readonly #reads: TxnLane
  readonly #writes: TxnLane
  #isClosed = false

  /** Throws a `LeaseConfigurationError` if the options are not valid. */
  constructor(options: EtcdClientOptions = {}) {
    checkOptionNames('EtcdClient', options, optionNames, { store: 'etcd' })
    const { username, password, clock = systemClock } = options
    this.#channels = channelsFor(options)
    const { clients, endpoints = [LOCAL] } = options
    const addresses = clients === undefined ? endpoints.filter((one) => one.startsWith('http:')) : []
    this.plainEndpoints = addresses.map((one) => `http://${addressOf(one)}`)
    this.clock = clock
    const transact = (request: TxnRequest, call: StoreCall) => this.request('Txn', request, call)
    this.#reads = new TxnLane(transact, clock, joinedReads)
    this.#writes = new TxnLane(transact, clock, joinedWrites)
    if ((username === undefined) !== (password === undefined)) {
      throw misconfigured('username and password need each other: give both, or none')
    }
    if (username !== undefined && password !== undefined) {
      this.#token = new AccessToken(() => this.#authenticate(username, password))
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
    const send = (token: string | undefined) => this.#send(method, request, token, call, isRepeatable)
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
      const module = await untilAborted(import('./channel.js'), call)
      if (this.#isClosed) throw closedError()
      // Another request may have loaded it meanwhile.
      if (this.#members.length === 0) {
        this.#members = this.#channels.map((open) => new Member(() => open(module), this.clock))
      }
    }
    return this.#members as readonly [Member, ...Member[]]
  }

  async #send<M extends Method>(
    method: M,
    request: Request<M>,
    token: string | undefined,
    call: StoreCall,
    isRepeatable: boolean,
  ): Promise<Answer<M>> {
    const members = await this.#load(call)
    const ask = async (member: Member, own: StoreCall): Promise<Answer<M>> => {
      const answer = await member.unary(method, request, token, own)
      if (this.#members[0] !== member) {
        this.#members = [member, ...this.#members.filter((other) => other !== member)]
      }
      return answer
    }
    return isRepeatable ? await failOver(members, ask, this.clock, PATIENCE, call) : await ask(members[0], call)
  }

  async #authenticate(name: string, password: string): Promise<string> {
    const call = new AbortableCall(AUTHENTICATION_TIMEOUT)
    const cancel = this.clock.schedule(AUTHENTICATION_TIMEOUT, () => {
      call.abort(new LeaseUnavailableError('the request for a token was not answered', { store: 'etcd' }))
    })
    try {
      return (await this.#send('Authenticate', { name, password }, undefined, call, true)).token
    } finally {
      cancel()
    }
  }
}

function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the etcd client is closed: open a new one', { store: 'etcd' })
}

type ChannelModule = typeof import('./channel.js')

function channelsFor({
  endpoints: given,
  tls,
  clients,
}: EtcdClientOptions): readonly ((module: ChannelModule) => Channel)[] {
  if (clients === undefined) {
    const endpoints = given === undefined ? [LOCAL] : given
    const checked = checkedTexts('endpoints', endpoints, { example: LOCAL, store: 'etcd' })
    const certificates = tlsOf(checked, tls)
    return checked.map(addressOf).map((address) => (module) => module.Channel.to(address, certificates))
  }
  if (given !== undefined || tls !== undefined) {
    throw misconfigured('clients have addresses and certificates of their own: give clients, or endpoints and tls')
  }
  if (!Array.isArray(clients) || clients.length === 0 || clients.some((one) => typeof one?.getChannel !== 'function')) {
    throw misconfigured('clients must be a list of clients of @grpc/grpc-js, one for each member')
  }
  return clients.map((client) => (module) => module.Channel.of(client))
}

function addressOf(endpoint: string): string {
  const { hostname, port } = new URL(endpoint)
  return `${hostname}:${port || DEFAULT_PORT}`
}

/** The certificates if the endpoints use TLS. The error shows no endpoint: it may have a password in it. */
function tlsOf(endpoints: readonly string[], tls: EtcdTls | undefined): EtcdTls | undefined {
  const protocols = new Set(endpoints.map((endpoint) => (URL.canParse(endpoint) ? new URL(endpoint).protocol : '')))
  const [protocol] = protocols
  if (protocols.size !== 1 || (protocol !== 'http:' && protocol !== 'https:')) {
    throw misconfigured('endpoints must be URLs like http://host:2379 or https://host:2379, all of the same kind')
  }
  if (protocol === 'http:') {
    if (tls === undefined) return undefined
    throw misconfigured('certificates need TLS: begin the endpoints with https:')
  }
  if ((tls?.cert === undefined) !== (tls?.key === undefined)) {
    throw misconfigured('a client certificate needs its key: give both cert and key')
  }
  return tls ?? {}
}
