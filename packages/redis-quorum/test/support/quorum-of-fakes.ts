import { randomUUID } from 'node:crypto'
import type { Grant } from '@leasehold/core'
import { AbortableCall, type AcquireRequest, type StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { expect } from 'vitest'
import { RedisQuorumLeaseStore } from '../../src/redis-quorum-lease-store.js'
import { FakeMember, FakeServer, type Way } from './fake-server.js'

export const TTL = 10_000
export const NAME = 'job'

/** Servers in memory, in virtual time, and clients of them. */
export class QuorumOfFakes {
  readonly clock = new VirtualClock()
  readonly servers: readonly FakeServer[]
  /** Never aborted. */
  readonly call = new AbortableCall()

  /** Of so many servers, or of those whose tokens begin with these numbers. */
  constructor(servers: number | readonly bigint[] = 3) {
    const firstTokens = typeof servers === 'number' ? Array.from({ length: servers }, () => 0n) : servers
    this.servers = firstTokens.map((first) => new FakeServer(this.clock, first))
  }

  /** A store, with its members; the way of the calls may depend on the place of the server. `probe`: checks the servers first. */
  open(
    wayOf?: (place: number, operation: string) => Way,
    probe = false,
  ): { store: RedisQuorumLeaseStore; members: FakeMember[] } {
    const members = this.servers.map((server, place) => {
      return new FakeMember(server, this.clock, (operation) => wayOf?.(place, operation) ?? {})
    })
    return { store: new RedisQuorumLeaseStore(members, { clock: this.clock, probe }), members }
  }

  server(place: number): FakeServer {
    const server = this.servers[place]
    if (server === undefined) throw new Error(`there is no server ${place}`)
    return server
  }

  request(over: Partial<AcquireRequest> = {}): AcquireRequest {
    return { name: NAME, owner: 'owner', grantId: randomUUID(), ttl: TTL, ...over }
  }

  async granted(store: RedisQuorumLeaseStore, over: Partial<AcquireRequest> = {}): Promise<Grant> {
    const outcome = await this.during(store.acquire(this.request(over), this.call))
    if (!outcome.granted) expect.fail(`refused by ${outcome.holder?.owner ?? 'no known owner'}`)
    return outcome.grant
  }

  /** By whom each server has the name locked. */
  async owners(): Promise<(string | undefined)[]> {
    const records = await Promise.all(this.servers.map(({ store }) => store.read(NAME)))
    return records.map((record) => (record?.state === 'leased' ? record.owner : undefined))
  }

  /** Locks one server for an owner without a majority. */
  async lock(place: number, owner: string, grantId: string = randomUUID()): Promise<void> {
    await this.server(place).store.acquire(this.request({ owner, grantId }))
  }

  /** Lets time pass until it is settled. */
  async during<T>(promise: Promise<T>, longest = 60_000): Promise<T> {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    promise.then(over, over)
    if (!(await this.clock.time.advanceUntil(() => isOver, longest))) throw new Error(`not within ${longest} ms`)
    return await promise
  }

  /** A call that is aborted after this time, in milliseconds. */
  limit(duration: number): StoreCall {
    const call = new AbortableCall(duration)
    this.clock.schedule(duration, () => call.abort(new Error('time is up')))
    return call
  }
}
