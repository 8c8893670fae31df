import { LeaseSettings, StoreLease, TimeoutSettings } from '@leasehold/core'
import { Random } from '@leasehold/simulator'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { RedisQuorumLeaseStore } from '../../src/redis-quorum-lease-store.js'
import { FakeMember, FakeServer, type Way } from './fake-server.js'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** The observations of one run. */
export interface Weather {
  /** Two holders at the same time, or a token that did not grow. */
  readonly faults: readonly string[]
  readonly grants: number
}

/**
 * Processes contend for a lease, hold it and let go of it, while servers are killed, frozen and thawed, messages are lost,
 * come late and overtake one another, and no two clocks run alike. With losses, one server after the other loses its data,
 * and stays away until the leases that it may have granted have expired.
 */
export async function roughWeather(seed: number, size: number, duration: number, losses = false): Promise<Weather> {
  const random = new Random(seed)
  const time = new VirtualTime()
  const drift = (): number => random.between(-0.004, 0.004)
  const servers = Array.from({ length: size }, () => {
    return new FakeServer(new VirtualClock({ time, drift: drift() }), BigInt(random.whole(0, 1_000)))
  })
  const faults: string[] = []
  const leases: StoreLease[] = []
  let grants = 0
  let lastToken = -1n
  /** The server that has lost its data and is not back yet. */
  let away: FakeServer | undefined

  const look = (): void => {
    const acting = leases.filter((lease) => lease.checkLease())
    if (acting.length > 1) faults.push(`${acting.length} may act at ${time.now}`)
  }
  const watch = (): void => {
    look()
    time.schedule(7, watch)
  }
  const stir = (): void => {
    const server = servers.filter((one) => one !== away)[random.whole(0, size - (away === undefined ? 1 : 2))]
    const fault = random.whole(0, 5)
    if (fault === 0 && server !== undefined) server.state = 'dead'
    else if (fault === 1 && server !== undefined) server.state = 'frozen'
    else server?.thaw((sent) => sent.toSorted(() => random.between(-1, 1)))
    time.schedule(random.between(20, 1_500), stir)
  }
  const lose = (): void => {
    time.schedule(random.between(2_500, 8_000), lose)
    const server = servers[random.whole(0, size - 1)]
    if (server === undefined || away !== undefined || servers.some(({ floor }) => floor === undefined)) return
    away = server
    server.state = 'dead'
    time.schedule(2_100, () => {
      server.restart(BigInt(random.whole(0, 1_000)))
      away = undefined
    })
  }
  const process = (owner: string): void => {
    const clock = new VirtualClock({ time, drift: drift() })
    const members = servers.map((server) => new FakeMember(server, clock, () => wayOf(random)))
    const timeouts = new TimeoutSettings({ heartbeatTimeout: 2_000, heartbeatInterval: 300, operationTimeout: 300 })
    const store = new RedisQuorumLeaseStore(members, { clock })
    const lease = new StoreLease(new LeaseSettings({ name: 'job', owner, timeouts }), store, {
      clock,
      logger,
      random: () => random.next(),
    })
    leases.push(lease)
    const go = async (): Promise<void> => {
      if (await lease.acquire({ wait: random.between(0, 4_000) })) {
        look()
        grants += 1
        const { fencingToken } = lease
        if (fencingToken !== undefined && fencingToken <= lastToken) faults.push(`${fencingToken} after ${lastToken}`)
        lastToken = fencingToken ?? lastToken
        await new Promise<void>((done) => void clock.schedule(random.between(0, 4_000), done))
      }
      await lease.release()
    }
    const again = (): void => void clock.schedule(random.between(1, 300), () => void go().then(again, again))
    again()
  }

  watch()
  stir()
  if (losses) lose()
  for (let count = 0; count < 4; count += 1) process(`process ${count}`)
  await time.advance(duration)
  return { faults, grants }
}

function wayOf(random: Random): Way {
  const slow = random.chance(0.05) ? 1_500 : 10
  const lost = random.chance(0.02) ? 'request' : random.chance(0.02) ? 'answer' : undefined
  const way = { there: random.between(0, slow), back: random.between(0, slow) }
  return lost === undefined ? way : { ...way, lost }
}
