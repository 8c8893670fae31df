import { LeaseError } from '@leasehold/core'
import { SingleFlight } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'

/** The key whose record operators break and delete, and others. */
const KEYS = ['job', 'one', 'two', 'three'] as const

/** A value: each refresh makes another one, and uses up its `previous`. */
interface Value {
  readonly key: string
  readonly number: number
  readonly token: string
}

/** The events of one simulation, over all its processes. */
export class Happenings {
  refreshes = 0
  interrupted = 0
  got = 0
  refused = 0
  behind = 0
  readonly tokens = new Map<string, bigint>()
  /** The numbers of the values that a refresh that was not interrupted has used up, unless it failed. */
  readonly used = new Set<string>()
  readonly made = new Set<string>()
  readonly faults: { readonly key: string; readonly text: string }[] = []
  /** `got` when the last fault was over. */
  quiet: number | undefined
  #last = 0

  static of(shared: Map<string, unknown>): Happenings {
    const happenings = (shared.get('happenings') as Happenings | undefined) ?? new Happenings()
    shared.set('happenings', happenings)
    return happenings
  }

  /** A refresh begins. Returns the number of its value, and what takes back that it has used up the previous one. */
  onRefresh(
    key: string,
    owner: string,
    refreshing: { previous: Value | undefined; interrupted: boolean; token: bigint },
  ) {
    const { previous, interrupted, token } = refreshing
    this.refreshes += 1
    if (interrupted) this.interrupted += 1
    const used = `${key} ${previous?.number ?? 'none'}`
    if (!interrupted && this.used.has(used)) this.#fail(key, `${owner} uses the value ${used} again`)
    this.used.add(used)
    const last = this.tokens.get(key)
    if (last !== undefined && token <= last) this.#fail(key, `'${key}' got the token ${token} after ${last}`)
    this.tokens.set(key, token)
    this.#last += 1
    return { number: this.#last, failed: () => this.used.delete(used) }
  }

  onValue(key: string, owner: string, value: Value, before: bigint): bigint {
    this.got += 1
    if (!this.made.has(`${value.key} ${value.number}`)) this.#fail(key, `${owner} got a value that nobody has made`)
    if (value.key !== key) this.#fail(key, `${owner} got the value of '${value.key}' for '${key}'`)
    const token = BigInt(value.token)
    if (token < before) this.#fail(key, `${owner} got a value of '${key}' that is older than one it had`)
    return token
  }

  #fail(key: string, text: string): void {
    this.faults.push({ key, text })
  }
}

/** Every process gets the keys in any order. */
async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, owner, random, shared, signal, wall } = process
  const happenings = Happenings.of(shared)
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  const now = (): Date => new Date(wall())
  const flight = new SingleFlight(store, { ...leaseOptions, now, cacheSize: random.pick([0, 1_000]) })
  flight.on('error', () => (happenings.behind += 1))
  const newest = new Map<string, bigint>()
  let refreshing = 0
  process.show({ kind: 'refreshing', of: 'value', isActive: () => refreshing > 0 })
  const get = async (key: string): Promise<void> => {
    const [length, fails] = [ttl * random.magnitude(-6, 1), random.chance(0.2)]
    const before = newest.get(key) ?? 0n
    const times = { freshFor: ttl * random.magnitude(-4, 3), staleFor: random.pick([0, ttl]) }
    try {
      const value = await flight.get<Value>(
        key,
        async ({ previous, interrupted, fencingToken: token }) => {
          const { number, failed } = happenings.onRefresh(key, owner, { previous, interrupted, token })
          refreshing += 1
          await process.sleep(length).finally(() => (refreshing -= 1))
          if (fails) {
            failed()
            throw new ErrorOfRefresh('the refresh failed')
          }
          happenings.made.add(`${key} ${number}`)
          return { key, number, token: String(token) }
        },
        { ...times, signal },
      )
      const token = happenings.onValue(key, owner, value, before)
      if (token > (newest.get(key) ?? 0n)) newest.set(key, token)
    } catch (error) {
      if (!(error instanceof LeaseError) && !(error instanceof ErrorOfRefresh) && !signal.aborted) throw error
      happenings.refused += 1
    }
  }
  while (!signal.aborted) {
    const keys = Array.from({ length: random.whole(1, 3) }, () => random.pick(KEYS))
    await Promise.all(keys.map(get))
    await process.sleep(ttl * random.magnitude(-3, 0.3))
  }
  // It rejects where a release was not confirmed in time.
  await flight.stop({ timeout: 0 }).catch(() => {})
}

/** Thrown by refreshes, in place of the error of a user. */
class ErrorOfRefresh extends Error {}

/** The first fault that no planned fault excuses: a deleted record has no value, and nonsense can spoil one. */
function findFault({ shared, faults, now }: ScenarioView): string | undefined {
  const happenings = shared.get('happenings') as Happenings | undefined
  if (happenings === undefined || happenings.faults.length === 0) return undefined
  const happened = faults.filter(({ at }) => at <= now).map(({ kind }) => kind)
  if (happened.includes('nonsense')) return undefined
  const isForgotten = happened.includes('forget')
  return happenings.faults.find(({ key }) => key !== 'job' || !isForgotten)?.text
}

export const scenario: Scenario = {
  workload,
  findFault,
  hasProgressed: ({ shared, active }) => {
    const happenings = shared.get('happenings') as Happenings | undefined
    if (happenings === undefined) return false
    happenings.quiet ??= happenings.got
    // A refresh can take longer than the bound.
    return happenings.got > happenings.quiet || active.length > 0
  },
}
