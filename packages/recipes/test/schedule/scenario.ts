import { Schedule, type Tick } from '@leasehold/recipes'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'
import { Wishes } from './wishes.js'

/** The runs of one simulation, over all its processes. */
export class Happenings {
  /** For each tick: the owners that started its work. */
  readonly runs = new Map<number, string[]>()
  /** The wall clock of each machine. */
  readonly walls = new Map<number, () => number>()
  /** The answers that operators got. */
  readonly wishes = new Wishes()
  every = 0
  started = 0
  /** Works that were asked for by hand, by their ids: the owners that started them. */
  readonly byHand = new Map<string, string[]>()
  /** Works that ended by themselves, without a signal. */
  completed = 0
  latest = Number.NEGATIVE_INFINITY
  fault: string | undefined
  /** Starts and ends of works. */
  events = 0
  /** `events` when the last fault was over. */
  quiet: number | undefined
  /** The last tick that was recorded ahead of a clock, with a run or without. */
  #recorded = Number.NEGATIVE_INFINITY
  #token = 0n

  static of(shared: Map<string, unknown>): Happenings {
    const happenings = (shared.get('happenings') as Happenings | undefined) ?? new Happenings()
    shared.set('happenings', happenings)
    return happenings
  }

  onRun(tick: Tick, owner: string): void {
    const { byHand, fencingToken: token, due } = tick
    if (byHand === undefined) this.#onTick(due.getTime(), owner, tick.checkLease())
    else this.#onRunByHand(byHand.id, owner)
    this.started += 1
    this.events += 1
    if (token <= this.#token) this.fault ??= `${owner} ran under the token ${token} after ${this.#token}`
    this.#token = token
  }

  #onRunByHand(id: string, owner: string): void {
    const owners = [...(this.byHand.get(id) ?? []), owner]
    this.byHand.set(id, owners)
    if (owners.length > 1) this.fault ??= `the run ${id} by hand was done by ${owners.join(' and by ')}`
  }

  /** `isValid`: the lease was valid as the work started, so that the wishes were read not long before. */
  #onTick(tick: number, owner: string, isValid: boolean): void {
    const owners = [...(this.runs.get(tick) ?? []), owner]
    const shown = new Date(tick).toISOString()
    this.runs.set(tick, owners)
    if (owners.length > 1) this.fault ??= `the tick ${shown} was run by ${owners.join(' and by ')}`
    if (tick < this.latest) this.fault ??= `${owner} ran the tick ${shown} after a later one`
    if (isValid && this.wishes.forbid(tick))
      this.fault ??= `${owner} ran the tick ${shown} against the wish of an operator`
    this.latest = tick
  }

  /** A process has read the next tick. If that is not the next one by its clock, a later tick was recorded. */
  onRead(next: Date | undefined, now: number): void {
    const tick = (next?.getTime() ?? 0) - this.every
    if (tick > now) this.#recorded = Math.max(this.#recorded, tick)
  }

  /** Whether any machine has a clock by which a tick is due that is later than the last one. */
  get isDue(): boolean {
    const walls = Array.from(this.walls.values(), (wall) => wall())
    // Ticks are rounded to whole milliseconds.
    const { firstAdmitted, mayBePaused } = this.wishes
    if (mayBePaused) return false
    return Math.max(...walls) > Math.max(this.latest, this.#recorded, firstAdmitted) + this.every + 1
  }
}

/** Does what an operator does. Never rejects: the answer of the store can be lost. */
async function operate({ random, wall }: SimulatedProcess, schedule: Schedule, happenings: Happenings): Promise<void> {
  const { wishes, every } = happenings
  const { next } = await schedule.read()
  const length = every * random.between(0.5, 4)
  switch (random.pick(['pause', 'pause-until', 'resume', 'resume', 'run-now', 'run-now', 'skip'])) {
    case 'pause':
      return await wishes.pause(() => schedule.pause({ reason: 'simulated' }))
    case 'pause-until':
      return await wishes.pauseUntil(wall() + length, (until) => schedule.pause({ reason: 'simulated', until }))
    case 'resume':
      return await wishes.resume(() => schedule.resume())
    case 'run-now':
      return await wishes.runNow(() => schedule.runNow())
    case 'skip':
      if (next !== undefined) await wishes.skip(next, () => schedule.skip(next))
  }
}

async function workload(process: SimulatedProcess): Promise<void> {
  const { store, leaseOptions, owner, node, random, shared, signal, wall } = process
  const { maxHold: _, ...options } = leaseOptions
  const happenings = Happenings.of(shared)
  const ttl = leaseOptions.heartbeatTimeout ?? 0
  // All processes have to agree on it, and a restart of the simulation has to draw it again.
  happenings.every ||= ttl * random.between(0.6, 2)
  happenings.walls.set(node, wall)
  happenings.wishes.ttl = ttl
  const now = (): Date => happenings.wishes.read(wall())
  const work = async (tick: Tick): Promise<void> => {
    const { signal: aborted } = tick
    happenings.onRun(tick, owner)
    await process.sleep(ttl * random.magnitude(-9, 1))
    happenings.events += 1
    if (!aborted.aborted) happenings.completed += 1
    if (random.chance(0.1)) throw new Error('the work failed')
  }
  while (!signal.aborted) {
    const atMostFor = random.chance(0.5) ? ttl * random.between(0.1, 1) : undefined
    // The name is not held for longer than the work may take, nor at the next tick.
    const longest = Math.min(atMostFor ?? ttl, happenings.every)
    const schedule = new Schedule(store, {
      ...options,
      name: 'job',
      every: happenings.every,
      missed: random.pick(['skip', 'run-once']),
      ...(atMostFor === undefined ? {} : { atMostFor }),
      ...(random.chance(0.3) ? { atLeastFor: longest * random.between(0.1, 0.9) } : {}),
      now,
      work,
    })
    schedule.start()
    for (let left = random.whole(1, 12); left > 0 && !signal.aborted; left -= 1) {
      await process.sleep(ttl)
      const { next } = await schedule.read().catch(() => ({ next: undefined }))
      happenings.onRead(next, wall())
      if (random.chance(0.4)) void operate(process, schedule, happenings).catch(() => {})
    }
    await schedule.stop({ timeout: random.pick([0, ttl / 4]) })
  }
}

/** A deleted record has lost the last tick, and nonsense can spoil it. */
function findFault({ shared, faults, now }: ScenarioView): string | undefined {
  const happenings = shared.get('happenings') as Happenings | undefined
  if (happenings !== undefined) happenings.wishes.now = now
  const excuses = ['forget', 'nonsense']
  if (faults.some(({ at, kind }) => at <= now && excuses.includes(kind))) return undefined
  return happenings?.fault
}

export const scenario: Scenario = {
  workload,
  findFault,
  // After a step of the clock that was ahead, no tick may be due for an hour: none is run again.
  hasProgressed: ({ shared }) => {
    const happenings = shared.get('happenings') as Happenings | undefined
    if (happenings === undefined) return false
    happenings.quiet ??= happenings.events
    return happenings.events > happenings.quiet || !happenings.isDue
  },
}
