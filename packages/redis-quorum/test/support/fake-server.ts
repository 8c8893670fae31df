import {
  type Clock,
  type Grant,
  type LeaseRecord,
  LeaseUnavailableError,
  MemoryLeaseStore,
  type Metadata,
} from '@leasehold/core'
import type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  ReleaseOutcome,
  RenewOutcome,
  StoreCall,
} from '@leasehold/core/store'
import { raisedTo } from '@leasehold/core/store-kit'
import { type Floor, NoFloorError, type ServerInfo } from '@leasehold/redis/internal'
import type { QuorumMember } from '../../src/electorate.js'
import { largestOf } from '../../src/fencing-tokens.js'
import { REVISION_KEY } from '../../src/records.js'

type State = 'up' | 'dead' | 'frozen'

/**
 * A server of a quorum in memory, with fencing tokens of its own. While it is frozen, it keeps all requests, even those that
 * were aborted, until it is thawed.
 */
export class FakeServer {
  readonly clock: Clock
  state: State = 'up'
  /** The largest token that it has given or taken over; `undefined` where it has lost its data, or was never used. */
  floor: bigint | undefined = 0n
  /** What it says of itself, as INFO of Redis does. */
  readonly info = new Map([
    ['maxmemory', '0'],
    ['maxmemory_policy', 'noeviction'],
    ['role', 'master'],
  ])
  /** Of its own count, by name: a grant that is repeated has it again. */
  readonly lastOwnToken = new Map<string, bigint>()
  #store: MemoryLeaseStore
  #buffer: (() => void)[] = []
  /** By how much its tokens are ahead of those of the store, by name. */
  readonly #ahead = new Map<string, bigint>()
  #firstToken: bigint

  constructor(clock: Clock, firstToken = 0n) {
    this.clock = clock
    this.#firstToken = firstToken
    this.#store = new MemoryLeaseStore({ clock })
  }

  get store(): MemoryLeaseStore {
    return this.#store
  }

  /** Carries out the kept requests, in the order in which they were sent unless another one is given. */
  thaw(order: (sent: (() => void)[]) => (() => void)[] = (sent) => sent): void {
    this.state = 'up'
    for (const deliver of order(this.#buffer.splice(0))) deliver()
  }

  /** It has lost its data, and counts its tokens from this one. */
  restart(firstToken: bigint): void {
    this.#store = new MemoryLeaseStore({ clock: this.clock })
    this.#ahead.clear()
    this.floor = undefined
    this.lastOwnToken.clear()
    this.#firstToken = firstToken
    this.#buffer = []
    this.state = 'up'
  }

  receive(deliver: () => void): void {
    if (this.state === 'frozen') this.#buffer.push(deliver)
    else deliver()
  }

  aheadOf(name: string): bigint {
    return this.#ahead.get(name) ?? this.#firstToken
  }

  setAhead(name: string, ahead: bigint): void {
    this.#ahead.set(name, ahead)
  }
}

/** The delays of a call, there and back, and whether it or its answer is lost. */
export interface Way {
  readonly there?: number
  readonly back?: number
  readonly lost?: 'request' | 'answer'
}

/** A client of a {@link FakeServer}. */
export class FakeMember implements QuorumMember {
  readonly server: FakeServer
  /** The operations, in order. */
  readonly asked: string[] = []
  readonly #clock: Clock
  readonly #wayOf: (operation: string) => Way
  #isClosed = false

  constructor(server: FakeServer, clock: Clock = server.clock, wayOf: (operation: string) => Way = () => ({})) {
    this.server = server
    this.#clock = clock
    this.#wayOf = wayOf
  }

  async acquire(request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> {
    return await this.#call('acquire', call, (store) => {
      return this.#given(request.name, () => store.acquire(request))
    })
  }

  async renew(grant: Grant, call: StoreCall): Promise<RenewOutcome> {
    return this.#shown(grant.name, await this.#call('renew', call, (store) => store.renew(this.#ownOf(grant))))
  }

  async renewMany(grants: readonly Grant[], call: StoreCall): Promise<readonly RenewOutcome[]> {
    const outcomes = await this.#call('renewMany', call, (store) =>
      store.renewMany(grants.map((grant) => this.#ownOf(grant))),
    )
    return outcomes.map((outcome, index) => this.#shown(grants[index]?.name ?? '', outcome))
  }

  async update(grant: Grant, metadata: Metadata, call: StoreCall): Promise<RenewOutcome> {
    return this.#shown(
      grant.name,
      await this.#call('update', call, (store) => store.update(this.#ownOf(grant), metadata)),
    )
  }

  async release(grant: Grant, call: StoreCall, metadata?: Metadata): Promise<ReleaseOutcome> {
    return this.#shown(
      grant.name,
      await this.#call('release', call, (store) => store.release(this.#ownOf(grant), undefined, metadata)),
    )
  }

  async retract(grant: Grant, call: StoreCall): Promise<ReleaseOutcome> {
    const outcome = await this.#call('release', call, async (store) => {
      const record = await store.read(grant.name)
      return await store.release(
        grant,
        undefined,
        record?.grantId === grant.grantId ? (record.previous ?? {}) : undefined,
      )
    })
    return this.#shown(grant.name, outcome)
  }

  async read(name: string, call: StoreCall): Promise<LeaseRecord | undefined> {
    const record = await this.#call('read', call, (store) => store.read(name))
    return record === undefined ? undefined : this.#shownRecord(record)
  }

  async change(grant: Grant, to: { grantId: string; owner: string }, call: StoreCall): Promise<AcquireOutcome> {
    return await this.#call('change', call, (store) => {
      return this.#given(grant.name, () => store.change(grant, to))
    })
  }

  async break(name: string, options: BreakOptions, call: StoreCall): Promise<{ remaining: number }> {
    return await this.#call('break', call, (store) => store.break(name, options))
  }

  async agree(grant: Grant, fencingToken: bigint, call: StoreCall): Promise<AcquireOutcome> {
    return await this.#call('agree', call, async (store) => {
      const record = await store.read(grant.name)
      if (record?.state !== 'leased' || record.grantId !== grant.grantId) return { granted: false }
      const least = fencingToken - record.fencingToken
      if (least > this.server.aheadOf(grant.name)) this.server.setAhead(grant.name, least)
      const shown = this.#shownRecord(record)
      this.#raiseFloor(shown.fencingToken)
      return { granted: true, grant: { ...grant, fencingToken: shown.fencingToken } }
    })
  }

  async raiseToken(grant: Grant, token: bigint, call: StoreCall): Promise<RenewOutcome> {
    const { server } = this
    const outcome = await this.#call('raiseToken', call, async (store) => {
      const record = await store.read(grant.name)
      const renewed = await store.renew(this.#ownOf(raisedTo(grant, token)))
      if (record === undefined || !renewed.renewed) return renewed
      const shown = this.#shownRecord(record).fencingToken
      this.#raiseFloor(largestOf([token, shown]))
      if (token <= shown) return renewed
      let before = grant.fencingToken
      if (shown < before) before = shown
      const metadata = { [REVISION_KEY]: `${before} 0`, ...record.metadata }
      await store.update({ ...grant, fencingToken: record.fencingToken }, metadata)
      server.setAhead(grant.name, token - record.fencingToken)
      return renewed
    })
    return this.#shown(grant.name, outcome)
  }

  async repair(
    grant: Grant,
    metadata: Metadata,
    _previous: Metadata | undefined,
    call: StoreCall,
  ): Promise<AcquireOutcome> {
    const { name, owner, grantId, ttl, fencingToken } = grant
    return await this.#call('repair', call, async (store) => {
      const { server } = this
      if (server.floor === undefined) throw new NoFloorError('NOFLOOR')
      const outcome = await store.acquire({ name, owner, grantId, ttl, metadata })
      if (!outcome.granted) return outcome
      server.lastOwnToken.set(name, outcome.grant.fencingToken)
      server.setAhead(name, fencingToken - outcome.grant.fencingToken)
      this.#raiseFloor(fencingToken)
      return { granted: true, grant }
    })
  }

  async probe(_name: string, call: StoreCall): Promise<ServerInfo> {
    return await this.#call('probe', call, () => Promise.resolve({ time: 0, fields: this.server.info }))
  }

  async floor(_name: string, call: StoreCall): Promise<Floor> {
    return await this.#call('floor', call, () => Promise.resolve({ floor: this.server.floor, now: 0n }))
  }

  async learn(_name: string, floor: bigint, call: StoreCall): Promise<void> {
    await this.#call('learn', call, async () => {
      this.server.floor ??= 0n
      this.#raiseFloor(floor)
    })
  }

  close(): Promise<void> {
    this.#isClosed = true
    return Promise.resolve()
  }

  /** A new grant has a token above the floor; one that is repeated keeps its token. */
  async #given(name: string, give: () => Promise<AcquireOutcome>): Promise<AcquireOutcome> {
    const { server } = this
    const { floor } = server
    if (floor === undefined) throw new NoFloorError('NOFLOOR')
    const outcome = await give()
    if (outcome.granted) {
      const { fencingToken } = outcome.grant
      const missing = floor + 1n - fencingToken
      if (server.lastOwnToken.get(name) !== fencingToken && missing > server.aheadOf(name))
        server.setAhead(name, missing)
      server.lastOwnToken.set(name, fencingToken)
      this.#raiseFloor(fencingToken + server.aheadOf(name))
    }
    return this.#shown(name, outcome)
  }

  /** The grant with its token in the count of the server's store. */
  #ownOf(grant: Grant): Grant {
    return { ...grant, fencingToken: grant.fencingToken - this.server.aheadOf(grant.name) }
  }

  #raiseFloor(token: bigint): void {
    const { server } = this
    if (server.floor === undefined) throw new NoFloorError('NOFLOOR')
    if (token > server.floor) server.floor = token
  }

  #shown<T extends AcquireOutcome | RenewOutcome | ReleaseOutcome>(name: string, outcome: T): T {
    if ('holder' in outcome && outcome.holder !== undefined) {
      return { ...outcome, holder: this.#shownRecord(outcome.holder) }
    }
    if (!('grant' in outcome)) return outcome
    const { grant } = outcome
    return { ...outcome, grant: { ...grant, fencingToken: grant.fencingToken + this.server.aheadOf(name) } }
  }

  #shownRecord(record: LeaseRecord): LeaseRecord {
    return { ...record, fencingToken: record.fencingToken + this.server.aheadOf(record.name) }
  }

  #call<T>(operation: string, call: StoreCall, perform: (store: MemoryLeaseStore) => Promise<T>): Promise<T> {
    const { server } = this
    if (this.#isClosed) return Promise.reject(new LeaseUnavailableError('the store is closed'))
    if (call.aborted) return Promise.reject(call.signal.reason)
    this.asked.push(operation)
    if (server.state === 'dead') return Promise.reject(new LeaseUnavailableError('connection refused'))
    const { there = 0, back = 0, lost } = this.#wayOf(operation)
    return new Promise<T>((resolve, reject) => {
      const removeListener = call.onAbort(() => reject(call.signal.reason))
      const answer = (settle: () => void): void => {
        if (lost === 'answer') return
        this.#after(back, () => {
          removeListener()
          settle()
        })
      }
      const deliver = (): void => {
        perform(server.store).then(
          (outcome) => answer(() => resolve(outcome)),
          (error: unknown) => answer(() => reject(error)),
        )
      }
      if (lost === 'request') return
      this.#after(there, () => {
        if (server.state !== 'dead') server.receive(deliver)
      })
    })
  }

  #after(delay: number, task: () => void): void {
    if (delay === 0) task()
    else this.#clock.schedule(delay, task)
  }
}
