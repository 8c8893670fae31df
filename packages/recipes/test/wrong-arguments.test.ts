import { createLease, LeaseConfigurationError, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import {
  AllOf,
  createLockManager,
  LeaderElection,
  LeaseManager,
  Once,
  PartitionGroup,
  ScheduleControl,
  SingleFlight,
} from '@leasehold/recipes'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** A store that counts its requests. */
function createPlace() {
  const clock = new VirtualClock()
  let requests = 0
  const store: LeaseStore = new Proxy(new MemoryLeaseStore({ clock }), {
    get: (memory, key) => {
      const value = Reflect.get(memory, key)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        requests += 1
        return value.apply(memory, given)
      }
    },
  })
  const options = { clock, logger: { debug() {}, info() {}, warn() {}, error() {} } }
  return { store, options, manager: new LeaseManager(store, options), requestsOf: () => requests }
}

type Place = ReturnType<typeof createPlace>

const work = async (): Promise<void> => {}
const texts = ['5', '5s', null]
/** Of no duration. */
const wrong = [Number.NaN, -1, ...texts]
const numbers = [Number.NaN, 5, null]

/** The argument, values that it must not have, and its use. */
type Row = readonly [argument: string, values: readonly unknown[], use: (place: Place, value: never) => unknown]

const rows: readonly Row[] = [
  ['wait of acquireWithAutoRenew', wrong, ({ manager }, wait) => manager.acquireWithAutoRenew('a', { wait })],
  ['signal of acquireWithAutoRenew', ['x', {}], ({ manager }, signal) => manager.acquireWithAutoRenew('a', { signal })],
  ['wait of claimFirst', wrong, ({ manager }, wait) => manager.claimFirst(['a'], { wait })],
  ['wait of claimFirst without a name', wrong, ({ manager }, wait) => manager.claimFirst([], { wait })],
  ['signal of claimFirst', ['x', {}], ({ manager }, signal) => manager.claimFirst(['a'], { signal })],
  ['an option of claimFirst', [5], ({ manager }, within) => manager.claimFirst(['a'], { within } as object)],
  ['timeout of stop', wrong, ({ manager }, timeout) => manager.stop({ timeout })],
  ['an option of stop', [5], ({ manager }, wait) => manager.stop({ wait } as object)],
  ['worker of processEach', numbers, ({ manager }, worker) => manager.processEach(['a'], worker)],
  ['key of processEach', numbers, ({ manager }, key) => manager.processEach(['a'], work, { key })],
  ['run of processEach', numbers, ({ manager }, run) => manager.processEach(['a'], work, { run })],
  ['signal of processEach', ['x', {}], ({ manager }, signal) => manager.processEach(['a'], work, { signal })],
  [
    'concurrency of processEach',
    [...wrong, 0, Infinity],
    ({ manager }, concurrency) => manager.processEach(['a'], work, { concurrency }),
  ],
  [
    'concurrency of LeaseManager',
    [...wrong, 0, Infinity],
    ({ store }, concurrency) => new LeaseManager(store, { concurrency }),
  ],
  ['wait of Once.run', wrong, ({ store }, wait) => new Once(store).run('a', work, { wait })],
  ['signal of Once.run', ['x', {}], ({ store }, signal) => new Once(store).run('a', work, { signal })],
  ['work of Once.run', numbers, ({ store }, given) => new Once(store).run('a', given)],
  ...(['freshFor', 'staleFor'] as const).map(
    (option): Row => [
      `${option} of SingleFlight.get`,
      option === 'freshFor' ? [...wrong, undefined] : wrong,
      ({ store }: Place, value: never) => new SingleFlight(store).get('a', work, { freshFor: 1, [option]: value }),
    ],
  ),
  [
    'refresh of SingleFlight.get',
    numbers,
    ({ store }, given) => new SingleFlight(store).get('a', given, { freshFor: 1 }),
  ],
  [
    'accepts of SingleFlight.get',
    numbers,
    ({ store }, accepts) => new SingleFlight(store).get('a', work, { freshFor: 1, accepts }),
  ],
  [
    'signal of SingleFlight.get',
    ['x', {}],
    ({ store }, signal) => new SingleFlight(store).get('a', work, { freshFor: 1, signal }),
  ],
  ['cacheSize of SingleFlight', wrong, ({ store }, cacheSize) => new SingleFlight(store, { cacheSize })],
  ['place of SingleFlight', [5, {}, { read() {} }], ({ store }, place) => new SingleFlight(store, { place })],
  [
    'readers of createLockManager',
    [...wrong, 0, 1.5, Infinity],
    ({ store }, readers) => createLockManager(store, { readers }),
  ],
  [
    'an option of request',
    [true],
    ({ store }, wait) => createLockManager(store).request('a', { wait } as object, work),
  ],
  ['options of pause', [undefined, null, 5], ({ store }, given) => new ScheduleControl(store, 'a').pause(given)],
  [
    'reason of pause',
    [undefined, '', ...numbers],
    ({ store }, reason) => new ScheduleControl(store, 'a').pause({ reason }),
  ],
  [
    'until of pause',
    ['soon', '2020-01-01', '2099-01-01T00:00', new Date(Number.NaN), ...numbers],
    ({ store }, until) => new ScheduleControl(store, 'a').pause({ reason: 'x', until }),
  ],
  ['by of runNow', ['', ...numbers], ({ store }, by) => new ScheduleControl(store, 'a').runNow({ by })],
  ['tick of skip', ['soon', '2020-01-01', ...numbers], ({ store }, tick) => new ScheduleControl(store, 'a').skip(tick)],
  ['now of ScheduleControl', numbers, ({ store }, now) => new ScheduleControl(store, 'a', { now })],
  ['wait of AllOf', wrong, ({ store }, wait) => new AllOf([createLease(store, 'a')]).acquire({ wait })],
  [
    'resignPause',
    [...wrong, Infinity],
    ({ store }, resignPause) => new LeaderElection(store, { name: 'a', resignPause }),
  ],
  ['stopTimeout', wrong, ({ store }, stopTimeout) => new LeaderElection(store, { name: 'a', stopTimeout })],
  ...(['rebalanceInterval', 'partitions', 'heartbeatTimeout'] as const).map(
    (option): Row => [
      option,
      [...wrong, Infinity],
      ({ store }: Place, value: never) =>
        new PartitionGroup(store, { name: 'a', partitions: 4, onAssigned() {}, [option]: value }),
    ],
  ),
  [
    'maxHold of PartitionGroup',
    [Number.NaN, -1, '5'],
    ({ store }, maxHold) => new PartitionGroup(store, { name: 'a', partitions: 4, onAssigned() {}, maxHold }),
  ],
]

describe('a wrong argument', () => {
  it.each(rows)('%s is a LeaseConfigurationError, before any request', async (_, values, use) => {
    for (const value of values) {
      const place = createPlace()
      const error: unknown = await Promise.resolve()
        .then(() => use(place, value as never))
        .catch((reason) => reason)
      expect(error, String(value)).toBeInstanceOf(LeaseConfigurationError)
      expect(place.requestsOf(), String(value)).toBe(0)
    }
  })
})
