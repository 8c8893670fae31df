import { breakLease, LeaseConflictError, LeaseLostError, type LeaseRecord, MemoryGuard } from '@leasehold/core'
import { Random } from '../../../packages/testkit/src/random.js'
import { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { Monitor } from '../../../testing/simulator/src/monitor.js'
import { ServerTimedStore } from '../../../testing/simulator/src/server-timed-store.js'
import { Journal } from './journal.js'
import { Links } from './links.js'
import { LETTERS, Program, type Surroundings } from './program.js'
import { BREAK_PERIOD, HOUR, LEASE, RESOURCE, RESTART, SLOW_BY } from './settings.js'
import { ShownStore } from './shown-store.js'
import { Tenures } from './tenures.js'

/** A write that has reached the resource. */
export interface Write {
  readonly at: number
  readonly node: number
  readonly fencingToken: bigint
  readonly isAccepted: boolean
}

/** A time in which no code of a node runs, because it is paused or dead. */
export interface Absence {
  readonly from: number
  /** `undefined`: it still goes on. */
  to: number | undefined
}

/** A machine, which outlives its processes. */
interface Machine {
  readonly clock: VirtualClock
  /** When this node may act, by its own clock. */
  readonly tenures: Tenures
  readonly absences: Absence[]
  program: Program | undefined
  starts: number
}

export interface WorldOptions {
  readonly seed: number
  /** When the program of each node starts, in milliseconds: A first unless given. */
  readonly starts?: readonly number[] | undefined
}

/** Streams of the seed. */
const streams = { links: 1, programs: 100 }

/** The wall clocks of the nodes begin at noon, so that an hour more or less is the same day. */
const NOON = 12 * HOUR

/** Old writes are dropped. */
const MOST_WRITES = 200

/**
 * Three nodes, a store and a resource, in virtual time: the shipped engine on each node, over the store in memory, through
 * links that can be cut. The same seed and the same actions give the same history.
 */
export class World implements Surroundings {
  readonly time = new VirtualTime()
  readonly journal = new Journal(() => this.time.now)
  readonly plan = { cancels: true, batched: false, watched: true }
  readonly network: Links
  readonly store: ServerTimedStore
  readonly server: ShownStore
  /** When the store kept the name for a node. */
  readonly locks = new Tenures()
  readonly writes: Write[] = []
  /** What must never happen: two nodes that may act at once. */
  violation: string | undefined
  readonly monitor: Pick<Monitor, 'fail' | 'onGrant' | 'grants' | 'breaks'>
  readonly #guard = new MemoryGuard<string>()
  readonly #serverClock = new VirtualClock({ time: this.time })
  readonly #machines: readonly Machine[]
  readonly #random: Random
  /** Which node asks under which grant id. */
  readonly #askers = new Map<string, number>()
  readonly #awaited = new Set<{ readonly isMet: () => boolean; readonly resolve: () => void }>()
  #lastToken = 0n
  #downUntil = 0
  /** Whether a script may still act. */
  #isScripted = true

  constructor({ seed, starts = [0, 300, 600] }: WorldOptions) {
    const { time } = this
    this.#random = new Random(seed)
    this.network = new Links(time, this.#random.fork(streams.links), LETTERS.length)
    this.monitor = {
      grants: [],
      breaks: [],
      fail: (check, message) => this.#violate(`${check}: ${message}`),
      onGrant: ({ owner, fencingToken }) => {
        if (fencingToken === this.#lastToken) return
        if (fencingToken < this.#lastToken) this.#violate(`token ${fencingToken} after ${this.#lastToken}`)
        this.#lastToken = fencingToken
        this.journal.note('store', `grants the lease to ${owner}, with token ${fencingToken}`)
      },
    }
    this.server = new ShownStore(this.#serverClock)
    this.store = new ServerTimedStore(this.plan, this.monitor, this.#serverClock, this.server)
    this.#machines = LETTERS.map(() => ({
      clock: new VirtualClock({ time, skew: NOON }),
      tenures: new Tenures(),
      absences: [],
      program: undefined,
      starts: 0,
    }))
    for (const [node, at] of starts.entries()) time.schedule(at, () => this.start(node))
  }

  get now(): number {
    return this.time.now
  }

  /** Whether the store refuses connections. */
  get isServerDown(): boolean {
    return this.now < this.#downUntil
  }

  get record(): LeaseRecord | undefined {
    return this.server.recordOf(LEASE)
  }

  /** The nodes in the queue of the store, the first one first. */
  get waiters(): readonly number[] {
    return this.server.waitersOf(LEASE).flatMap((grantId) => this.#askers.get(grantId) ?? [])
  }

  /** What the resource has now: what was written last. */
  get written(): string | undefined {
    return this.#guard.read(RESOURCE)
  }

  /** The largest token that the resource has seen. */
  get largestToken(): bigint | undefined {
    return this.writes.findLast(({ isAccepted }) => isAccepted)?.fencingToken
  }

  /** The node that may act now; `undefined` if none. */
  get holder(): number | undefined {
    const node = this.#machines.findIndex(({ program }) => program?.lease.checkLease() === true)
    return node < 0 ? undefined : node
  }

  programOf(node: number): Program | undefined {
    return this.#machineOf(node).program
  }

  clockOf(node: number): VirtualClock {
    return this.#machineOf(node).clock
  }

  tenuresOf(node: number): Tenures {
    return this.#machineOf(node).tenures
  }

  absencesOf(node: number): readonly Absence[] {
    return this.#machineOf(node).absences
  }

  /** Lets time pass, and looks at all nodes after each step. */
  async advance(duration: number): Promise<void> {
    await this.time.advanceUntil(() => {
      this.#look()
      return false
    }, duration)
    this.#look()
  }

  /** For scripts: resolves as soon as the condition is met, in the time of the world. */
  async until(isMet: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => this.#awaited.add({ isMet, resolve }))
  }

  /** For scripts: resolves when this much time has passed. */
  async wait(duration: number): Promise<void> {
    await new Promise<void>((resolve) => this.time.schedule(duration, () => this.#goOn(resolve)))
  }

  /** A script that waits waits for ever: it does nothing more. */
  endScript(): void {
    this.#isScripted = false
  }

  start(node: number): void {
    const machine = this.#machineOf(node)
    if (machine.program !== undefined) return
    machine.starts += 1
    this.#endAbsence(machine)
    const random = this.#random.fork(streams.programs + 100 * node + machine.starts)
    this.journal.note(letterOf(node), machine.starts === 1 ? 'starts, and asks for the lease' : 'starts again')
    machine.program = new Program(this, node, machine.clock, random)
  }

  /** Ends the process of a node at once: nothing of it runs any more, and nobody is notified. */
  kill(node: number): void {
    const machine = this.#machineOf(node)
    if (machine.program === undefined) return
    machine.program.kill()
    machine.program = undefined
    if (machine.clock.isRunning) machine.absences.push({ from: this.now, to: undefined })
    else machine.clock.resume()
    this.journal.note('you', `kill ${letterOf(node)}`)
    this.#look()
  }

  /** Stops a node as SIGSTOP does: none of its code runs, and its clocks go on. */
  pause(node: number): void {
    const { clock, program, absences } = this.#machineOf(node)
    if (!clock.isRunning || program === undefined) return
    clock.pause()
    absences.push({ from: this.now, to: undefined })
    this.journal.note('you', `pause ${letterOf(node)}`)
  }

  resume(node: number): void {
    const machine = this.#machineOf(node)
    const { clock } = machine
    if (clock.isRunning) return
    this.#endAbsence(machine)
    this.journal.note('you', `let ${letterOf(node)} go on`)
    clock.resume()
    // The lease must be known to have ended before any timer has run.
    this.#look()
  }

  cut(node: number): void {
    this.network.cut(node)
    this.journal.note('you', `cut the link of ${letterOf(node)}`)
  }

  mend(node: number): void {
    this.network.mend(node)
    this.journal.note('you', `mend the link of ${letterOf(node)}`)
  }

  slow(node: number, by = SLOW_BY): void {
    this.network.delay(node, by)
    this.journal.note('you', `make the link of ${letterOf(node)} slow: ${by / 1_000} s more for each message`)
  }

  hasten(node: number): void {
    this.network.delay(node, 0)
    this.journal.note('you', `make the link of ${letterOf(node)} fast again`)
  }

  /** Has the holder release its lease when it has written. */
  release(node: number): void {
    this.journal.note('you', `ask ${letterOf(node)} to release the lease`)
    this.programOf(node)?.release()
  }

  /** Sets the wall clock of a node; nothing else moves. */
  stepWall(node: number, by: number): void {
    this.clockOf(node).stepWall(by)
    this.journal.note('you', `set the wall clock of ${letterOf(node)} ${by > 0 ? 'forward' : 'back'} by an hour`)
  }

  /** Breaks the lease as an operator does: the name stays locked for a period. */
  async break(): Promise<void> {
    const clock = this.#serverClock
    try {
      await breakLease(this.server, LEASE, { period: BREAK_PERIOD, reason: 'by the operator', clock })
      this.journal.note('you', `break the lease: the name stays locked for ${BREAK_PERIOD / 1_000} s`, 'warning')
    } catch (error) {
      if (!(error instanceof LeaseConflictError)) throw error
      this.journal.note('you', 'try to break the lease: nobody holds it')
    }
  }

  /** The store is down for a while. Its records are on disk. */
  restartStore(): void {
    this.journal.note('you', `restart the store: it is down for ${RESTART / 1_000} s`, 'warning')
    this.#downUntil = this.now + RESTART
    for (const { program } of this.#machines) program?.connection.reset()
    this.time.schedule(RESTART, () => {
      if (!this.isServerDown) this.journal.note('store', 'is up again, with its records')
    })
  }

  onAsked(node: number, grantId: string): void {
    this.#askers.set(grantId, node)
  }

  onWrite(node: number, fencingToken: bigint): boolean {
    const isFirst = fencingToken !== this.largestToken
    const isAccepted = this.#write(node, fencingToken)
    this.writes.push({ at: this.now, node, fencingToken, isAccepted })
    if (this.writes.length > MOST_WRITES) this.writes.shift()
    const letter = letterOf(node)
    if (!isAccepted) {
      const seen = `it has seen ${this.largestToken}`
      this.journal.note('resource', `refuses the write of ${letter} with token ${fencingToken}: ${seen}`, 'bad')
    } else if (isFirst) {
      this.journal.note('resource', `accepts the first write of ${letter} with token ${fencingToken}`)
    }
    return isAccepted
  }

  #write(node: number, fencingToken: bigint): boolean {
    try {
      this.#guard.write(RESOURCE, fencingToken, `by ${letterOf(node)}`)
      return true
    } catch (error) {
      if (error instanceof LeaseLostError) return false
      throw error
    }
  }

  /** After each step: who may act, and for whom the store keeps the name. */
  #look(): void {
    const { now } = this
    let holders = 0
    for (const [node, { program, tenures }] of this.#machines.entries()) {
      const lease = program?.lease
      const isValid = lease?.checkLease() === true
      const fencingToken = lease?.fencingToken
      if (isValid) holders += 1
      const present =
        lease !== undefined && isValid && fencingToken !== undefined
          ? { node, fencingToken, until: now + lease.remaining }
          : undefined
      tenures.look(now, present)
    }
    if (holders > 1) this.#violate(`${holders} nodes may act at once`)
    this.#lookAtRecord()
    for (const awaited of this.#awaited) {
      if (!awaited.isMet()) continue
      this.#awaited.delete(awaited)
      // As a task of this instant, so that all its reactions run before time goes on.
      this.time.schedule(0, () => this.#goOn(awaited.resolve))
    }
  }

  #goOn(script: () => void): void {
    if (this.#isScripted) script()
  }

  #lookAtRecord(): void {
    const { now, record } = this
    const node = (LETTERS as readonly string[]).indexOf(record?.owner ?? '')
    const lock =
      record?.remaining === undefined
        ? undefined
        : { node, fencingToken: record.fencingToken, until: now + record.remaining }
    this.locks.look(now, lock)
  }

  #endAbsence({ absences }: Machine): void {
    const last = absences.at(-1)
    if (last !== undefined) last.to ??= this.now
  }

  #violate(text: string): void {
    if (this.violation !== undefined) return
    this.violation = text
    this.journal.note('store', `A RULE IS BROKEN: ${text}`, 'bad')
  }

  #machineOf(node: number): Machine {
    const machine = this.#machines[node]
    if (machine === undefined) throw new RangeError(`there is no node ${node}`)
    return machine
  }
}

export function letterOf(node: number): (typeof LETTERS)[number] {
  const letter = LETTERS[node]
  if (letter === undefined) throw new RangeError(`there is no node ${node}`)
  return letter
}
