import { type CreateLeaseOptions, createLease, type LeaseLost, type Logger, type StoreLease } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { ScriptedStore } from './scripted-store.js'

export const TTL = 10_000
export const INTERVAL = 1_000
export const LIMIT = 1_000
/** The timers of these leases are set within this time. */
export const ARMED = 50

/** The end of validity of a grant that was sent at 0: ttl − 1 % − 25 ms. */
export const VALIDITY = 9_875

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export interface Fixture {
  readonly clock: VirtualClock
  readonly store: ScriptedStore
  readonly lease: StoreLease
  /** All reported losses, in order. */
  readonly losses: LeaseLost[]
  readonly events: string[]
}

/** A lease in virtual time over a scripted store, with heartbeats exactly every `INTERVAL` unless `random` is given. */
export function setUp({
  ordered = false,
  ...options
}: CreateLeaseOptions & { readonly ordered?: boolean } = {}): Fixture {
  const clock = new VirtualClock()
  const store = new ScriptedStore({ ordered })
  const lease = createLease(store, 'job', {
    owner: 'me',
    heartbeatTimeout: TTL,
    heartbeatInterval: INTERVAL,
    operationTimeout: LIMIT,
    clock,
    random: () => 0,
    logger: silentLogger,
    ...options,
  })
  const events: string[] = []
  for (const event of ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released', 'error'] as const) {
    lease.on(event, () => events.push(event))
  }
  return { clock, store, lease, losses: [], events }
}

/** The same, with the lease granted at time 0. */
export async function setUpHeld(options: CreateLeaseOptions = {}): Promise<Fixture> {
  const fixture = setUp(options)
  const acquired = fixture.lease.acquire({ onLost: (lost) => fixture.losses.push(lost) })
  fixture.store.last('acquire').answer('yes')
  if (!(await acquired)) throw new Error('the lease was not granted')
  await fixture.clock.settle()
  return fixture
}

/** Confirms every heartbeat until the end of the test. */
export async function beat({ clock, store }: Fixture, duration: number): Promise<void> {
  const end = clock.now() + duration
  while (clock.now() < end) {
    await clock.advance(Math.min(50, end - clock.now()))
    const call = store.calls.at(-1)
    if (call?.method === 'renew') call.answer('yes')
    await clock.settle()
  }
}
