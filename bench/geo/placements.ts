import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { VirtualClock, type VirtualTime } from '@leasehold/testkit'
import { FakeMember, FakeServer } from '../../packages/redis-quorum/test/support/fake-server.js'
import type { Random } from '../../packages/testkit/src/random.js'
import { type Client, Connection, type Line } from '../../testing/simulator/src/connection.js'
import { Nonsense } from '../../testing/simulator/src/nonsense.js'
import { ServerTimedStore } from '../../testing/simulator/src/server-timed-store.js'
import { LONGEST_ROUND_TRIP, type Region, type RegionNetwork, regions } from './regions.js'

export type PlacementName = 'one server in A' | 'consensus, leader in A' | 'quorum of three servers'

export const placementNames: readonly PlacementName[] = [
  'one server in A',
  'consensus, leader in A',
  'quorum of three servers',
]

/** A process, and the region that it runs in. */
export interface RegionalClient extends Client {
  readonly region: Region
}

/** Where the store lives. */
export interface Placement {
  open(client: RegionalClient): LeaseStore
  /** A region was cut off: what the others do. */
  onIsolated(region: Region): void
}

/** The world that a store lives in. */
export interface Surroundings {
  readonly time: VirtualTime
  readonly network: RegionNetwork
  readonly random: Random
}

export function createPlacement(name: PlacementName, surroundings: Surroundings): Placement {
  if (name === 'one server in A') return new OneServer(surroundings, 'A')
  return name === 'consensus, leader in A' ? new Consensus(surroundings) : new Quorum(surroundings)
}

/** A server that decides on expiry by its clock and notifies waiters, such as Redis: the memory store behind the links. */
export class OneServer implements Placement {
  readonly #surroundings: Surroundings
  readonly #home: Region
  readonly #store: ServerTimedStore

  constructor(surroundings: Surroundings, home: Region) {
    this.#surroundings = surroundings
    this.#home = home
    this.#store = createServer(surroundings.time)
  }

  open(client: RegionalClient): LeaseStore {
    const { network } = this.#surroundings
    const line = lineOf(client, () => this.#home, network.send.bind(network))
    return this.#store.open(new Connection(client, line, soundAnswers(this.#surroundings)))
  }

  onIsolated(_region: Region): void {}
}

/** An election begins after this time without a leader, and takes up to twice as long: ten round trips, as etcd advises. */
const ELECTION = 10 * LONGEST_ROUND_TRIP

/**
 * A model of a consensus among three members, such as etcd: the same store, but a write is executed when another region has it,
 * too. The leader answers keep-alives alone. A member whose way to the leader is cut passes requests on by the third one. It
 * models latencies and elections, not the protocol.
 */
class Consensus implements Placement {
  readonly #surroundings: Surroundings
  readonly #store: ServerTimedStore
  #leader: Region = 'A'
  #lastGrant: Grant | undefined

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#store = createServer(surroundings.time, (grant) => {
      this.#lastGrant = grant
    })
  }

  open(client: RegionalClient): LeaseStore {
    const line = lineOf(client, () => this.#leader, this.#route.bind(this))
    const committed = () => new Promise<void>((resolve) => this.#commit(resolve))
    return this.#store.open(new CommittedConnection(client, line, soundAnswers(this.#surroundings), committed))
  }

  /** The region of the leader was cut off: the others elect one, which extends the lease in force, as that of etcd does. */
  onIsolated(region: Region): void {
    if (region !== this.#leader) return
    const { time, random } = this.#surroundings
    time.schedule(random.between(ELECTION, 2 * ELECTION), () => {
      this.#leader = region === 'A' ? 'B' : 'A'
      const machine = new VirtualClock({ time })
      const leader: RegionalClient = { node: -1, owner: 'leader', machine, isDead: false, region: this.#leader }
      const line = lineOf(
        leader,
        () => this.#leader,
        (_from, _to, deliver) => deliver(),
      )
      const store = this.#store.open(new Connection(leader, line, soundAnswers(this.#surroundings)))
      if (this.#lastGrant !== undefined) void store.renew(this.#lastGrant, new AbortableCall())
    })
  }

  #route(from: Region, to: Region, deliver: () => void): void {
    const { network } = this.#surroundings
    const third = regions.find((other) => other !== from && other !== to) ?? from
    if (!network.isSilent(from, to)) network.send(from, to, deliver)
    else network.send(from, third, () => network.send(third, to, deliver))
  }

  #commit(resolve: () => void): void {
    const { time, network } = this.#surroundings
    const ways = regions
      .filter((follower) => follower !== this.#leader && !network.isSilent(this.#leader, follower))
      .map((follower) => network.way(this.#leader, follower) + network.way(follower, this.#leader))
    // Without a majority, the write is not committed.
    if (ways.length > 0) time.schedule(Math.min(...ways), resolve)
  }
}

/** Executes a write when it is committed. */
class CommittedConnection extends Connection {
  readonly #committed: () => Promise<void>

  constructor(client: RegionalClient, line: Line, answers: Nonsense, committed: () => Promise<void>) {
    super(client, line, answers)
    this.#committed = committed
  }

  override call<T>(method: string, call: StoreCall, execute: () => Promise<T>): Promise<T> {
    if (method === 'renew') return super.call(method, call, execute)
    return super.call(method, call, async () => {
      await this.#committed()
      return await execute()
    })
  }
}

function createServer(time: VirtualTime, onGrant: (grant: Grant) => void = () => {}): ServerTimedStore {
  const machine = new VirtualClock({ time })
  return new ServerTimedStore({ batched: false, watched: true }, { breaks: [], grants: [], onGrant }, machine)
}

/** Between a client and the server in `home()`. */
function lineOf(
  { region }: RegionalClient,
  home: () => Region,
  send: (from: Region, to: Region, deliver: () => void) => void,
): Line {
  return {
    plan: { cancels: true },
    monitor: { fail: () => {} },
    isServerDown: false,
    network: {
      send: (_node, direction, deliver) => {
        if (direction === 'to-store') send(region, home(), deliver)
        else send(home(), region, deliver)
      },
    },
  }
}

/** No answer is spoilt. */
function soundAnswers({ time, random }: Surroundings): Nonsense {
  return new Nonsense(0, [], time, random)
}

/** The shipped store of a quorum, over a server in each region. */
class Quorum implements Placement {
  readonly #surroundings: Surroundings
  readonly #servers: readonly FakeServer[]

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    // Each server counts its tokens by itself, so that the servers have to agree on the token of a grant.
    this.#servers = regions.map(
      (_, place) => new FakeServer(new VirtualClock({ time: surroundings.time }), BigInt(place)),
    )
  }

  open({ region, machine }: RegionalClient): LeaseStore {
    const { network, random } = this.#surroundings
    const members = this.#servers.map((server, place) => {
      const home = regions[place] ?? 'A'
      return new FakeMember(server, machine, () => {
        const way = { there: network.way(region, home), back: network.way(home, region) }
        return network.isSilent(region, home) ? { ...way, lost: 'request' } : way
      })
    })
    return new RedisQuorumLeaseStore(members, { clock: machine, random: () => random.next(), probe: false })
  }

  onIsolated(_region: Region): void {}
}
